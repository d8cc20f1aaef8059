"""What the rules say of a project on a TPU, and that their fixes mend it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from workbench.core.checks.analysis import analyse
from workbench.core.checks.images import DatasetFacts
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.hardware.tpu_chips import chip_choice
from workbench.layers import all_layers
from workbench.preflight.rules import check_rules, wasted
from workbench.templates import find_template

LAYERS = all_layers()
V5E_8, V3_8, V6E = chip_choice("v5e-8"), chip_choice("v3-8"), chip_choice("v6e")


def project_of(*kinds, **recipe):
    nodes = [Node(f"n{i}", kind, f"{kind}_{i}", params) for i, (kind, params) in enumerate(kinds)]
    edges = [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)]
    return Project(graph=Graph.of(nodes, edges), recipe=TrainingRecipe().with_values(**recipe))


def small(**recipe):
    return project_of(
        ("input", {"shape": (16, 16, 3)}),
        ("flatten", {}),
        ("dense", {"units": 10, "activation": "softmax"}),
        **recipe,
    )


def wide(filters=(128, 192), size=64, **recipe):
    return project_of(
        ("input", {"shape": (size, size, 3)}),
        *(("conv2d", {"filters": n, "padding": "same"}) for n in filters),
        ("global_average_pooling2d", {}),
        ("dense", {"units": 10, "activation": "softmax"}),
        **recipe,
    )


def titles(project, chip, **more):
    return [problem.title for problem in check_rules(project, LAYERS, chip, **more)]


def found(title, project, chip, **more):
    problems = [p for p in check_rules(project, LAYERS, chip, **more) if p.title == title]
    assert problems, titles(project, chip, **more)
    return problems[0]


def mended(project, problem):
    (fix, *_) = problem.fixes
    recipe = project.recipe.with_values(**fix.recipe)
    return replace(project, graph=fix.apply(project.graph), recipe=recipe)


def test_a_batch_that_suits_the_cores_is_not_objected_to():
    assert titles(small(batch_size=1024), V5E_8) == []


@pytest.mark.parametrize(
    ("batch", "title", "severity", "after"),
    [
        (1001, "Batch not divisible by the cores", "warning", 1024),
        (4, "Batch not divisible by the cores", "error", 64),
        (32, "Batch is padded: use a multiple of 8 per core", "warning", 64),
        (800, "Batch is padded: use a multiple of 8 per core", "hint", 768),
    ],
)
def test_batches_are_fitted_to_cores_and_tiles(batch, title, severity, after):
    project = small(batch_size=batch)
    problem = found(title, project, V5E_8)
    assert problem.severity == severity
    better = mended(project, problem)
    assert better.recipe.batch_size == after
    assert title not in titles(better, V5E_8)


def test_cores_are_counted_not_chips():
    message = found("Batch not divisible by the cores", small(batch_size=100), V3_8).message
    assert "8 cores" in message


def test_few_steps_an_epoch_offer_a_smaller_batch():
    facts = DatasetFacts((16, 16, 3), 10, "tiny", num_train=3000)
    project = small(batch_size=1024)
    problem = found("Few steps per epoch", project, V5E_8, facts=facts)
    assert "2 steps" in problem.message
    better = mended(project, problem)
    assert 3000 // better.recipe.batch_size >= 20
    assert "Few steps per epoch" not in titles(better, V5E_8, facts=facts)


def test_memory_is_guessed_and_the_offered_batch_fits_the_guess():
    project = wide(size=512, batch_size=8192)
    title = "May not fit into TPU memory"
    problem = found(title, project, V5E_8)
    assert problem.severity == "warning"
    better = mended(project, problem)
    assert 0 < better.recipe.batch_size < 8192
    assert title not in titles(better, V5E_8)


def test_bfloat16_is_guessed_to_need_less_than_float32():
    half = wide(size=224, batch_size=8192, precision="bfloat16")
    full = wide(size=224, batch_size=8192, precision="float32")
    counted = [found("May not fit into TPU memory", p, V5E_8).message for p in (half, full)]
    assert float(counted[0].split("needs ")[1].split()[0]) < float(
        counted[1].split("needs ")[1].split()[0]
    )
    assert "TPUs are fastest in bfloat16" in titles(full, V5E_8)
    assert "TPUs are fastest in bfloat16" not in titles(half, V5E_8)


def test_waste_of_the_matrix_unit_is_reported_worst_first_and_by_its_own_width():
    project = wide(filters=(24, 128, 136), batch_size=1024)
    analysis = analyse(project.graph, LAYERS, recipe=project.recipe)
    on_v5e = wasted(project, LAYERS, V5E_8, analysis)
    costs = [waste.share * (1 - waste.use.used) for waste in on_v5e]
    assert costs == sorted(costs, reverse=True)
    assert [waste.node for waste in on_v5e] == ["n3"]  # 136 of 256; 128 fills it, 24 is cheap
    assert on_v5e[0].use.used == pytest.approx(136 / 256)
    assert "n2" in {waste.node for waste in wasted(project, LAYERS, V6E, analysis)}


def test_the_last_layer_is_not_advised_to_have_other_classes():
    project = small(batch_size=1024)
    analysis = analyse(project.graph, LAYERS, recipe=project.recipe)
    assert analysis.costs.nodes["n2"].multiply_adds
    assert wasted(project, LAYERS, V5E_8, analysis) == []


def test_a_wider_layer_is_offered_where_it_costs_the_same():
    project = wide(filters=(128, 136), batch_size=1024)
    problem = found("Matrix unit not fully used", project, V5E_8)
    better = mended(project, problem)
    assert better.graph.nodes["n2"].params["filters"] == 256


def test_what_the_host_does_is_named():
    project = project_of(
        ("input", {"shape": (16, 16, 3)}),
        ("random_rotation", {}),
        ("flatten", {}),
        ("dense", {"units": 10}),
        batch_size=1024,
    )
    assert "RandomRotation" in found("Runs on the TPU host", project, V5E_8).message


def test_errors_of_the_project_come_too():
    project = project_of(("input", {"shape": (16, 16, 3)}), ("dense", {"units": 10}))
    severities = {problem.severity for problem in check_rules(project, LAYERS, V5E_8)}
    assert "error" in severities


def test_tpu7x_is_refused_and_nothing_else_is_said():
    (problem,) = check_rules(small(), LAYERS, chip_choice("tpu7x"))
    assert problem.severity == "error"
    assert "needs JAX" in problem.title


def test_published_networks_have_no_errors():
    project = find_template("cifar10_convnet").project
    assert not [p for p in check_rules(project, LAYERS, V5E_8) if p.severity == "error"]
