"""The bundled projects: as published, and as their script writes them."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from workbench.assets import template_paths
from workbench.core.checks.analysis import analyse
from workbench.core.projects.project_file import parse_project, project_text
from workbench.errors import UsageError
from workbench.layers import all_layers
from workbench.templates import find_template, list_templates

ROOT = Path(__file__).resolve().parents[1]

PARAMETERS = {
    "cifar10_convnet": 1_676_982,
    "fashion_convnet": 108_810,
    "flowers_gap": 300_033,
    "flowers_dense": 192 * 192 * 3 * 500 + 500 + 500 * 50 + 50 + 50 * 5 + 5,
    "lenet5": 61_706,
}


@pytest.mark.parametrize("key", PARAMETERS)
def test_published_parameter_counts(key):
    assert find_template(key).parameters == PARAMETERS[key]


def test_all_are_there_in_order_and_can_train():
    templates = list_templates()
    assert {t.key for t in templates} == {
        *PARAMETERS,
        "cifar10_speedrun",
        "flowers_convnet",
        "flowers_squeeze",
        "flowers_transfer",
        "small_resnet",
    }
    assert [t.order for t in templates] == list(range(1, len(templates) + 1))
    for template in templates:
        project = template.project
        analysis = analyse(project.graph, all_layers(), recipe=project.recipe)
        errors = [p.message for p in analysis.problems if p.severity == "error"]
        assert errors == [], template.key
        assert analysis.is_trainable
        assert template.title
        assert template.summary
        assert template.note
        assert template.dataset_title
        assert template.data_note in {"images included", "downloads 170 MB"}
        assert not template.note.endswith((template.data_note, "·"))
        assert "template" not in project.extra


def test_small_resnet_has_branches_and_a_sensible_size():
    template = find_template("small_resnet")
    adds = [n.id for n in template.project.graph.nodes.values() if n.kind == "add"]
    assert len(adds) >= 3
    assert all(len(template.project.graph.edges_into(node)) == 2 for node in adds)
    assert 200_000 <= template.parameters <= 500_000


def test_the_speedrun_fills_matrix_units_and_checks_clean():
    template = find_template("cifar10_speedrun")
    project = template.project
    analysis = analyse(project.graph, all_layers(), recipe=project.recipe)
    assert [p.message for p in analysis.problems if p.severity != "hint"] == []
    filters = [n.params["filters"] for n in project.graph.nodes.values() if n.kind == "conv2d"]
    assert filters
    assert all(count % 16 == 0 for count in filters)
    assert project.recipe.precision == "auto"
    assert template.parameters < 1_000_000


def test_recipes_of_the_published_runs():
    cifar, fashion = (
        find_template("cifar10_convnet").project,
        find_template("fashion_convnet").project,
    )
    assert (cifar.recipe.optimizer, cifar.recipe.learning_rate) == ("adam", 0.001)
    assert (cifar.recipe.batch_size, cifar.recipe.epochs, cifar.recipe.validation) == (
        1024,
        50,
        "test",
    )
    assert (fashion.recipe.batch_size, fashion.recipe.steps_per_epoch, fashion.recipe.epochs) == (
        1000,
        60,
        5,
    )
    kinds = {n.kind for p in (cifar, fashion) for n in p.graph.nodes.values()}
    assert "rescaling" not in kinds  # both take raw 0 to 255


def test_the_files_are_what_the_script_writes():
    texts = runpy.run_path(str(ROOT / "packaging" / "make_templates.py"))["template_texts"]()
    assert set(texts) == {template.key for template in list_templates()}
    for path in template_paths():
        assert path.read_text(encoding="utf-8") == texts[path.stem]
        assert project_text(parse_project(texts[path.stem], "t")) == texts[path.stem]


def test_a_wrong_key_suggests_near_ones():
    with pytest.raises(UsageError, match="Did you mean cifar10_convnet"):
        find_template("cifar_convnet")
