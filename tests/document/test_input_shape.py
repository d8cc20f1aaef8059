"""Input takes the shape of the images by every way in."""

from __future__ import annotations

import shutil

import pytest
from PIL import Image

from workbench.backbones import all_backbones
from workbench.core.checks.images import DatasetFacts
from workbench.core.projects.project import Choice, Project
from workbench.datasets import all_datasets
from workbench.document import edited_project
from workbench.document.edited_project import look_at

USUAL = (224, 224, 3)


def shape_of(document):
    """The shape of the one Input."""
    (start,) = [n for n in document.graph.nodes.values() if n.kind == "input"]
    return tuple(start.params["shape"])


def add_by_palette(document):
    document.add_node("input")


def add_by_fix(document):
    document.apply_fix(document.analysis.problems[0].fixes[0])


def add_before(document):
    document.insert_before("input", document.add_node("conv2d"))


def add_with_backbone(document):
    document.insert_backbone(all_backbones()["mobilenet"])


WAYS = [add_by_palette, add_by_fix, add_before, add_with_backbone]


@pytest.mark.parametrize("add", WAYS)
def test_photos_of_differing_sizes_get_the_usual_one(document, add):
    document.set_dataset(Choice("flowers1000"))
    add(document)
    assert shape_of(document) == USUAL


@pytest.mark.parametrize("add", WAYS[:3])
def test_images_of_one_size_keep_it(document, add):
    document.set_dataset(Choice("cifar10"))
    add(document)
    assert shape_of(document) == (32, 32, 3)


def test_own_images_are_measured_without_the_data_view(document, tmp_path, qtbot):
    for number, side in enumerate((300, 340)):
        folder = tmp_path / f"class{number}"
        folder.mkdir()
        Image.new("L", (side, 260)).save(folder / "a.png")
    document.set_dataset(Choice("folder", {"path": str(tmp_path)}))
    qtbot.waitUntil(lambda: document.dataset_facts is not None, timeout=20_000)
    assert document.dataset_facts == DatasetFacts(None, 2, tmp_path.name, typical=(260, 320, 1))
    document.add_node("input")
    assert shape_of(document) == (224, 224, 1)


def test_a_look_lists_images_that_are_there_and_only_where_it_is_to(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (300, 260)).save(tmp_path / name / "a.png")
    spec, known = all_datasets()["folder"], DatasetFacts(None, 9, "known before")
    project = Project(dataset=Choice("folder", {"path": str(tmp_path)}))
    found = DatasetFacts(None, 2, tmp_path.name, typical=(260, 300, 3))
    assert look_at(project, spec, None, lists=True) == ((), (), found)
    assert look_at(project, spec, known, lists=False) == ((), (), known)
    shutil.rmtree(tmp_path)
    ((absent,), _, facts) = look_at(project, spec, known, lists=False)
    assert (absent.path, facts) == (str(tmp_path), None)


def test_own_images_are_listed_once_for_all_looks(document, tmp_path, qtbot, monkeypatch):
    """A window that becomes active looks again whether they are there."""
    listed, real = [], edited_project.glance_at
    monkeypatch.setattr(edited_project, "glance_at", lambda p: [listed.append(p), real(p)][1])
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        Image.new("L", (300, 260)).save(tmp_path / name / "a.png")
    document.set_dataset(Choice("folder", {"path": str(tmp_path)}))
    qtbot.waitUntil(lambda: document.dataset_facts is not None, timeout=20_000)
    document.look_for_data()
    document.close()  # waits for it
    assert len(listed) == 1


def test_a_network_pasted_into_other_data_takes_their_shape(document):
    document.set_dataset(Choice("fashion_mnist"))
    start = document.add_node("input")
    flat = document.add_node("global_average_pooling2d", after=start)
    text = document.copy_text([start, flat])
    document.new()
    document.set_dataset(Choice("flowers1000"))
    document.paste(text)
    assert shape_of(document) == USUAL
    document.undo_stack.undo()
    assert not document.graph.nodes


def test_a_pasted_network_that_needs_its_size_keeps_it(document):
    document.set_dataset(Choice("fashion_mnist"))
    start = document.add_node("input")
    last = document.add_node("reshape", after=start)
    document.set_params(last, target_shape=(784,))
    text = document.copy_text([start, last])
    document.new()
    document.set_dataset(Choice("flowers1000"))
    document.paste(text)
    assert shape_of(document) == (28, 28, 1)
    titles = [p.title for p in document.analysis.problems if p.severity == "warning"]
    assert "Images will be resized" in titles


def test_a_template_is_told_when_its_data_change(document):
    document.set_dataset(Choice("fashion_mnist"))
    document.add_node("input")
    document.set_dataset(Choice("flowers1000"))
    (problem,) = [p for p in document.analysis.problems if p.title == "Images will be resized"]
    assert problem.severity == "warning"
    document.apply_fix(problem.fixes[0])
    assert shape_of(document) == USUAL


def test_a_backbone_inserted_behind_a_small_gray_input_offers_its_size(document):
    document.set_dataset(Choice("flowers1000"))
    start = document.add_node("input")
    document.set_params(start, shape=(28, 28, 1))
    document.insert_backbone(all_backbones()["efficientnet_lite0"], after=start)
    (problem,) = [p for p in document.analysis.problems if p.title == "Images will be resized"]
    titles = [fix.title for fix in problem.fixes]
    assert titles[-1] == "Set Input to 224 × 224 × 3"
    document.apply_fix(problem.fixes[-1])
    kinds = [node.kind for node in document.graph.nodes.values()]
    assert "concatenate" not in kinds
    assert shape_of(document) == USUAL


def test_a_project_without_data_gives_the_default(document):
    document.set_dataset(Choice("npz"))
    document.add_node("input")
    assert shape_of(document) == (32, 32, 3)
