"""Frozen layers: what they cost, and what is found when nothing is left to train."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.core.network.test_learning import LAYERS, block
from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Graph
from workbench.core.network.roles import learning_from, with_training
from workbench.core.training.recipe import TrainingRecipe


def network() -> Graph:
    """A frozen group, and a Dense that learns."""
    graph = block().with_params("n1", shape=(16, 16, 3))
    return graph.with_params("n2", filters=8).with_params("n4", filters=8)


def found(graph: Graph, **values):
    return analyse(graph, LAYERS, recipe=TrainingRecipe(**values))


def titles(graph: Graph, **values):
    return {problem.title for problem in found(graph, **values).problems}


def problem(title: str, graph: Graph, **values):
    return next(p for p in found(graph, **values).problems if p.title == title)


def test_frozen_layers_have_nothing_to_learn() -> None:
    graph = network()
    costs, usual = (
        found(each).costs for each in (graph, with_training(graph, graph.nodes, "always"))
    )
    assert costs.parameters.total == usual.parameters.total
    assert costs.parameters.trainable == costs.nodes["n6"].parameters.total
    assert costs.nodes["n2"].parameters.trainable == 0
    assert costs.memory_bytes < usual.memory_bytes
    assert costs.weight_bytes < usual.weight_bytes


@pytest.mark.parametrize("values", [{}, {"fine_tuning_after": 5, "epochs": 10}])
def test_a_network_that_is_all_frozen_cannot_be_trained(values) -> None:
    graph = with_training(network(), network().nodes, "never")
    nothing = problem("Nothing to train", graph, **values)
    assert nothing.stops_training
    assert nothing.fixes[0].title.startswith("Train Dense")
    for fix in nothing.fixes:
        assert "Nothing to train" not in titles(fix.apply(graph), **values)


def test_a_head_that_only_learns_in_fine_tuning_is_reported() -> None:
    graph = with_training(network(), ["n6"], "fine_tuning")
    assert "Nothing to train" in titles(graph)
    late = problem("Nothing learns before fine-tuning", graph, fine_tuning_after=5, epochs=10)
    assert late.severity == "warning"
    assert "first 5 epochs" in late.message
    (fix,) = late.fixes
    assert fix.apply(graph).nodes["n6"].training == "always"


def test_fine_tuning_needs_layers_and_layers_need_fine_tuning() -> None:
    graph = network()
    values = {"fine_tuning_after": 5, "epochs": 10}
    none = problem("No layers to fine-tune", graph, **values)
    assert none.severity == "hint"
    tune, off = none.fixes
    assert off.recipe == {"fine_tuning_after": None}
    tuned = tune.apply(graph)
    assert tuned.nodes["n4"].training == "fine_tuning"
    assert tuned.nodes["n5"].training == "never"
    assert "No layers to fine-tune" not in titles(tuned, **values)
    unused = problem("No fine-tuning phase", tuned, epochs=10)
    assert [fix.title for fix in unused.fixes] == ["Fine-tune after 5 epochs", "Freeze them"]
    assert unused.fixes[0].recipe == {"fine_tuning_after": 5}
    assert unused.fixes[1].apply(tuned) == graph


def test_fine_tuning_after_the_end_is_reported() -> None:
    graph = learning_from(network(), "n4", "fine_tuning", LAYERS)
    late = problem("Fine-tuning never begins", graph, fine_tuning_after=10, epochs=10)
    assert late.fixes[0].recipe == {"fine_tuning_after": 5}
    assert "Fine-tuning never begins" not in titles(graph, fine_tuning_after=5, epochs=10)


def test_frozen_layers_before_one_without_a_gradient_are_no_problem() -> None:
    graph, kind = network(), "resizing"
    params = {"interpolation": "area", "height": 8, "width": 8}
    stopping = replace(graph.nodes["n5"], kind=kind, params=params, group="")
    assert "No gradient passes through it" not in titles(graph.with_node(stopping))
    learning = with_training(graph.with_node(stopping), ["n2"], "always")
    assert "No gradient passes through it" in titles(learning)


def test_usual_networks_have_no_such_findings() -> None:
    graph = with_training(network(), network().nodes, "always")
    assert not {title for title in titles(graph) if "une" in title or "Nothing" in title}
