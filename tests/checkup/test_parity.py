"""What is said of two runs of the same steps; the runs are written, not trained."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from workbench.checkup.parity import agreement_of, comparable, without_chance
from workbench.core.network.graph import Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import RunError, UsageError
from workbench.protocol.events import Batch, Plan, RunStarted
from workbench.runs.folder import create_run
from workbench.runs.log.event_log import EventWriter
from workbench.runs.store.weights_file import write_arrays

LOSSES = [2.0, 1.5, 1.2, 1.1, 1.0]
KERNEL = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def side(tmp_path):
    """Writes a run: its losses, its kernel, its replicas, its layers, its recipe."""
    numbers = iter(range(100))

    def write(losses=LOSSES, *, kernel=KERNEL, replicas=1, kinds=(), precision="float32", **recipe):
        nodes = [Node(f"n{i}", kind, kind, params) for i, (kind, params) in enumerate(kinds)]
        target = (
            Choice("virtual", {"replicas": replicas}) if replicas > 1 else Choice("this_computer")
        )
        project = Project(
            graph=Graph.of(nodes, []), recipe=TrainingRecipe().with_values(**recipe), target=target
        )
        run = create_run(project, path=tmp_path / str(next(numbers)))
        with EventWriter(run.events_path) as writer:
            writer.write(
                RunStarted(
                    run="", target=target.key, replicas=replicas, precision=precision, seed=7,
                    versions={}, plan=Plan(precision=precision), epochs=1, batch_size=8, pid=1,
                )
            )  # fmt: skip
            if losses:
                writer.write(
                    Batch(
                        epoch=1, step=len(losses), loss=losses[-1], accuracy=0.5, first_step=1,
                        images_per_second=1.0, losses=losses, accuracies=[0.5] * len(losses),
                    )
                )  # fmt: skip
        write_arrays(run.weights_path, {"dense/kernel": kernel, "empty": np.zeros((0, 2))})
        return run

    return write


def changed(step, by):
    return [loss + by * (number >= step) for number, loss in enumerate(LOSSES, 1)]


def test_what_differs_by_rounding_agrees(side):
    found = agreement_of((side(), side(changed(2, 4e-4), kernel=KERNEL + 1e-3, replicas=8)))
    assert (found.verdict, found.first_step, found.explained_by) == ("agree", None, ())
    assert found.max_loss_difference == pytest.approx(4e-4, rel=1e-2)
    assert found.max_weight_difference == pytest.approx(1e-3, rel=1e-2)
    assert found.weights == "dense/kernel"
    assert found.targets == ("this_computer", "virtual:8")
    assert found.words.startswith("The two targets train identically")


@pytest.mark.parametrize(
    ("step", "words"), [(1, "The first step already"), (2, "gradients"), (4, "diverge later")]
)
def test_where_the_losses_part_shows_what_to_look_for(side, step, words):
    found = agreement_of((side(), side(changed(step, 0.01))))
    assert (found.verdict, found.first_step, found.at_step) == ("differ", step, step)
    assert words in found.words
    assert f"from step {step} on" in found.words


def test_weights_alone_can_differ(side):
    found = agreement_of((side(), side(kernel=KERNEL * np.float32(1.1))))
    assert (found.verdict, found.first_step) == ("differ", None)
    assert found.max_weight_difference == pytest.approx(0.1, rel=1e-3)
    assert "in the weights" in found.words
    found = agreement_of((side(), side(kernel=KERNEL[:2])))
    assert found.max_weight_difference == math.inf
    assert found.to_dict()["max_weight_difference"] is None


@pytest.mark.parametrize(
    ("kind", "params"),
    [("dropout", {"rate": 0.2}), ("gaussian_noise", {}), ("batch_normalization", {})],
)
def test_layers_that_replicas_compute_otherwise_explain_a_difference(side, kind, params):
    left = side(kinds=[(kind, params)])
    found = agreement_of((left, side(changed(1, 0.1), kinds=[(kind, params)], replicas=2)))
    assert (found.verdict, found.explained_by) == ("explained", (kind,))
    assert f"This is expected with {kind}" in found.words
    # On as many replicas they explain nothing.
    assert agreement_of((left, side(changed(1, 0.1), kinds=[(kind, params)]))).verdict == "differ"


def test_a_layer_that_is_switched_off_explains_nothing(side):
    kinds = [("dropout", {"rate": 0.0})]
    pair = side(kinds=kinds), side(changed(1, 0.1), kinds=kinds, replicas=2)
    assert agreement_of(pair).verdict == "differ"


def test_what_was_not_asked_alike_is_named_and_excuses_nothing(side):
    kinds = [("dropout", {"rate": 0.2})]
    left = side(kinds=kinds)
    found = agreement_of((left, side(changed(1, 1.0), kinds=kinds, replicas=2, seed=8)))
    assert (found.verdict, "settings differ: seed" in found.words) == ("differ", True)
    found = agreement_of((left, side(changed(2, 1.0), kinds=kinds, learning_rate=0.1)))
    assert "training settings" in found.words
    found = agreement_of((left, side(changed(1, 0.1), kinds=kinds, precision="bfloat16")))
    assert "precision" in found.words


def test_a_loss_that_is_no_number_on_one_side_alone_differs(side):
    broken = [*LOSSES[:3], None, None]
    found = agreement_of((side(), side(broken)))
    assert (found.verdict, found.first_step) == ("differ", 4)
    assert found.to_dict()["max_loss_difference"] is None
    assert agreement_of((side(broken), side(broken))).verdict == "agree"


def test_bfloat16_may_be_further_apart(side):
    pair = side(precision="bfloat16"), side(changed(1, 0.02), precision="bfloat16")
    assert agreement_of(pair).verdict == "agree"
    assert agreement_of((side(), side(changed(1, 0.02)))).verdict == "differ"


def test_runs_without_a_step_cannot_be_compared(side):
    with pytest.raises(RunError, match="no training step"):
        agreement_of((side(), side([])))


def test_a_project_is_made_comparable():
    project = Project(recipe=TrainingRecipe().with_values(batch_size=100, epochs=9, keep="best"))
    targets = (Choice("this_computer"), Choice("virtual", {"replicas": 8}))
    recipe = comparable(project, targets, 50).recipe
    assert (recipe.batch_size, recipe.epochs, recipe.steps_per_epoch) == (96, 1, 50)
    assert (recipe.validation, recipe.keep, recipe.precision) == ("none", "last", "float32")
    small = replace(project, recipe=project.recipe.with_values(batch_size=4))
    with pytest.raises(UsageError):
        comparable(small, targets, 50)


def test_chance_is_switched_off_in_every_layer_that_draws():
    nodes = [
        Node("a", "dropout", "a", {"rate": 0.5}),
        Node("b", "gaussian_noise", "b", {}),
        Node("c", "dense", "c", {"units": 3}),
    ]
    graph = without_chance(Project(graph=Graph.of(nodes, []))).graph
    assert [graph.nodes[key].params for key in "abc"] == [
        {"rate": 0.0},
        {"stddev": 0.0},
        {"units": 3},
    ]
