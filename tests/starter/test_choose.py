"""Which project a data set is started with: by the number of its images and their size."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from workbench.backbones import all_backbones
from workbench.core.checks.analysis import analyse
from workbench.core.network.roles import input_node
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import parse_project, project_text
from workbench.core.projects.texts import source_choice
from workbench.core.specs import BundledWeights
from workbench.datasets.folder import SPEC as FOLDER
from workbench.errors import DatasetError, GraphError
from workbench.layers import all_layers
from workbench.pictures.png import write_png
from workbench.starter import (
    DataFacts,
    backbone_for,
    count_folder,
    input_shape_for,
    multiply_adds,
    start_for_data,
    start_for_folder,
    with_backbone,
)
from workbench.templates import find_template


def a_folder(root, *, side, counts=(6, 5, 7)):
    for name, number in zip(("champignon", "chanterelle", "fly agaric"), counts, strict=True):
        (root / name).mkdir(parents=True)
        for index in range(number):
            write_png(root / name / f"{index}.png", np.full((side, side, 3), index, np.uint8))
    return root


def folder_choice(folder, **params):
    choice = source_choice(FOLDER, str(folder))
    return Choice(choice.key, {**choice.params, **params})


def trainings(project):
    return Counter(node.training for node in project.graph.nodes.values())


def test_photos_start_on_a_frozen_network_with_a_head_for_their_classes(tmp_path):
    folder = a_folder(tmp_path / "mushrooms", side=90)
    start = start_for_folder(folder_choice(folder))
    project = start.project
    assert start.is_pretrained
    assert project.title == "mushrooms"
    assert start.reason == f"3 classes, 18 image files (not opened yet): {project.summary}"
    assert "18" not in project.summary, "edits change the counts"
    last = project.graph.nodes[project.graph.order[-1]]
    assert last.params["units"] == 3
    assert {node.training for node in project.graph.nodes.values() if node.group} == {"never"}
    assert project.view.folded == {node.group for node in project.graph.nodes.values()} - {""}
    assert analyse(project.graph, all_layers(), recipe=project.recipe).is_trainable
    assert parse_project(project_text(project), "text").graph == project.graph


def test_from_scratch_all_layers_learn(tmp_path):
    start = start_for_folder(folder_choice(a_folder(tmp_path / "m", side=90)), None)
    assert not start.is_pretrained
    assert set(trainings(start.project)) == {"always"}
    assert start.project.recipe.keep == "best"
    assert start.project.recipe.validation_share == 0.2


def test_small_images_start_from_scratch_at_their_size(tmp_path):
    start = start_for_folder(folder_choice(a_folder(tmp_path / "m", side=28)))
    assert not start.is_pretrained
    graph = start.project.graph
    assert input_node(graph, all_layers()).params["shape"] == (28, 28, 3)
    assert start.project.recipe.validation == "split"
    assert analyse(graph, all_layers(), recipe=start.project.recipe).is_trainable


def test_many_images_get_the_cheapest_backbone_and_few_the_largest():
    specs = [s for s in all_backbones().values() if isinstance(s.weights, BundledWeights)]
    by_cost = sorted(specs, key=multiply_adds)
    assert len(by_cost) >= 2
    assert backbone_for(400) is by_cost[-1]
    assert backbone_for(100_000) is by_cost[0]
    assert backbone_for(10**9) is by_cost[0]


def test_few_images_are_used_larger_than_a_backbone_was_trained_on():
    spec = backbone_for(400)
    usual = spec.input_shape[0]
    sides = [input_shape_for(spec, number)[0] for number in (400, 3_000, 100_000)]
    assert sides == sorted(sides, reverse=True)
    assert sides[0] > usual == sides[-1]
    assert input_shape_for(spec, 0) == spec.input_shape  # their number is not known
    project = with_backbone(find_template("flowers_transfer").project, spec, 400)
    assert input_node(project.graph, all_layers()).params["shape"][0] == sides[0]
    assert analyse(project.graph, all_layers(), recipe=project.recipe).is_trainable


def test_the_pixels_of_all_images_stay_small_on_the_disk():
    spec = backbone_for(10**9)
    assert multiply_adds(spec, 320) * 9_000 < 1e12  # would be computed soon
    side = input_shape_for(spec, 9_000)[0]
    assert 224 < side < 320
    assert 9_000 * 3 * side**2 < 2e9


@pytest.mark.parametrize(
    ("facts", "is_pretrained"),
    [
        ({"shape": (32, 32, 3)}, False),
        ({"shape": (224, 300, 3)}, True),
        ({"short_side": 30}, False),
        ({"short_side": 480}, True),
        ({}, True),
    ],
)
def test_data_that_was_looked_at(facts, is_pretrained):
    choice = Choice("npz", {"path": "x.npz"})
    start = start_for_data(DataFacts(choice, 7, 900, **facts))
    assert start.is_pretrained is is_pretrained
    assert start.project.dataset == choice
    graph = start.project.graph
    assert graph.nodes[graph.order[-1]].params["units"] == 7


def test_every_backbone_can_take_the_place_of_another():
    project = find_template("flowers_transfer").project
    layers = all_layers()
    for spec in all_backbones().values():
        other = with_backbone(project, spec)
        analysis = analyse(other.graph, layers, recipe=other.recipe)
        assert analysis.is_trainable, spec.key
        assert {n.group for n in other.graph.nodes.values()} == {"", spec.title}
        names = [node.name for node in other.graph.nodes.values() if not node.group]
        assert names == [n.name for n in project.graph.nodes.values() if not n.group]


def test_a_network_without_a_backbone_has_none_to_replace():
    project = find_template("lenet5").project
    with pytest.raises(GraphError):
        with_backbone(project, backbone_for(1))


def test_train_and_test_folders_are_looked_through(tmp_path):
    a_folder(tmp_path / "train", side=9)
    found = count_folder(folder_choice(tmp_path).params)
    assert (found.total, found.short_side) == (18, 9)


def test_a_folder_without_classes_is_explained_as_its_source_does(tmp_path):
    (tmp_path / "one").mkdir()
    write_png(tmp_path / "one" / "1.png", np.zeros((9, 9, 3), np.uint8))
    with pytest.raises(DatasetError, match='only one class, "one"'):
        start_for_folder(folder_choice(tmp_path))


def test_a_folder_is_read_as_the_choice_says(tmp_path):
    folder = a_folder(tmp_path / "photos", side=90)
    for number, path in enumerate(sorted(folder.rglob("*.png"))):
        path.rename(folder / f"{'day' if number % 3 else 'night'}_{number}.png")
    choice = folder_choice(folder, classes="names")
    start = start_for_folder(choice)
    assert start.counts == "2 classes, 18 image files (not opened yet)"
    assert start.project.dataset == choice
    assert start.project.graph.nodes[start.project.graph.order[-1]].params["units"] == 2
