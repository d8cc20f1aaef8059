"""Fixes are tried before they are offered: one of a plug-in's layer may not do what it says."""

from __future__ import annotations

import pytest

from tests.core.checks.test_shapes import INPUT, chain
from workbench.core.checks.analysis import Trial, analyse
from workbench.core.checks.problems import Fix, recipe_fix
from workbench.core.network.graph import Edge
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers

LAYERS = all_layers()
END = ("dense", {"units": 10, "activation": "softmax"})

FAILING = {
    "names a layer that is gone": Fix("connect_gone", "", lambda graph: graph.with_params("gone")),
    "makes a circle": Fix("connect", "", lambda graph: graph.with_edge(Edge("c", "a"))),
    "sets what is not allowed": recipe_fix("Set batch size to 0", batch_size=0),
    "changes nothing": Fix("keep", "Keep", lambda graph: graph),
    "sets what is set": recipe_fix("Set batch size", batch_size=TrainingRecipe().batch_size),
    "makes it worse": Fix("clear", "Clear", lambda graph: graph.without_nodes(["a", "b"])),
}


def found_in(graph, recipe):
    return analyse(graph, LAYERS, recipe=recipe).problems


@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING)
def test_only_a_fix_that_helps_is_offered(failing):
    graph = chain(INPUT, ("conv2d", {"kernel_size": (99, 99)}), ("flatten", {}), END)
    problems = found_in(graph, TrainingRecipe())
    (problem,) = [each for each in problems if each.node == "b"]
    (helping,) = [fix for fix in problem.fixes if fix.key == "set_padding"]
    trial = Trial(graph, TrainingRecipe(), problems, found_in)
    *steps, offered = trial.choose(problem, [failing, helping])
    assert steps == [None, None]
    assert offered == (helping,)
