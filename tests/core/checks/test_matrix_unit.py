"""One figure and one wording for what a layer makes of a TPU's matrix unit."""

from __future__ import annotations

import pytest

from tests.core.checks.test_shapes import INPUT, chain
from workbench.core.checks.analysis import analyse
from workbench.core.checks.matrix_unit import matrix_use, tpu_hint
from workbench.core.projects.project import Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.hardware.tpu_chips import chip_choice
from workbench.layers import all_layers
from workbench.preflight.rules import check_rules

LAYERS = all_layers()


def network(filters):
    wide = {"filters": filters, "padding": "same"}
    end = ("dense", {"units": 10, "activation": "softmax"})
    return chain(INPUT, ("conv2d", wide), ("conv2d", wide), ("flatten", {}), end)


@pytest.mark.parametrize("filters", [30, 32, 60, 96])
def test_the_inspector_and_preflight_say_the_same(filters):
    graph = network(filters)
    analysis = analyse(graph, LAYERS, recipe=TrainingRecipe())
    hint = tpu_hint(graph, LAYERS, analysis, "c")
    project = Project(graph=graph, recipe=TrainingRecipe(batch_size=1024))
    (problem,) = [
        p
        for p in check_rules(project, LAYERS, chip_choice("v5e-8"))
        if p.node == "c" and p.title == "Matrix unit not fully used"
    ]
    figure = hint.removeprefix("Uses ").split(" of a TPU")[0]
    assert figure.endswith("of the 128 × 128 matrix unit")
    assert figure in problem.message
    better = {30: 32, 32: 64, 60: 64, 96: 128}[filters]
    assert f"{better} filters take about the same time." in hint
    assert [fix.title for fix in problem.fixes] == [f"Set filters to {better}"]


def test_full_layers_and_the_last_one_have_no_hint():
    graph = network(128)
    analysis = analyse(graph, LAYERS, recipe=TrainingRecipe())
    assert tpu_hint(graph, LAYERS, analysis, "c") == ""
    assert matrix_use(graph, LAYERS, analysis, "e") is None
