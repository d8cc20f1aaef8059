"""Slices of an evaluation: the worst first, and a row leads to its images."""

from __future__ import annotations

import csv
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from tests.gui.views.pets import RESULT, numbers
from workbench.core.projects.project import Choice
from workbench.gui.evaluate import images as tagging
from workbench.protocol.trained.evaluate import cells_of
from workbench.runs.folder import RunFolder
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation


@pytest.fixture
def view(pets_view):
    return pets_view


@pytest.fixture
def panel(view):
    return view.panels["evaluate_slices"]


def choose(qtbot, panel, by):
    panel.by.setCurrentIndex(panel.by.findData(by))
    qtbot.waitUntil(lambda: panel.plot.accessibleName().startswith(f"Accuracy by {TITLES[by]}"))


TITLES = {
    "predicted": "predicted class",
    "tag": "tag",
    "brightness": "brightness",
    "folder": "folder",
}


def names(panel):
    return [each.name for each in panel.slices]


def test_a_row_leads_to_its_images(view, panel, qtbot):
    """Predicted as cat are 3 cats and 3 dogs; as dog 12 dogs and 2 cats."""
    choose(qtbot, panel, "predicted")
    table = panel.table.model()
    rows = [[table.index(row, at).data() for at in range(4)] for row in range(table.rowCount())]
    assert rows == [
        ["cat", "50.0%", "18.8%–81.2%", "6 (few)"],
        ["dog", "85.7%", "60.1%–96.0%", "14 (few)"],
    ]
    assert panel.plot.accessibleName() == "Accuracy by predicted class · Test set, 20 images"
    panel.table.clicked.emit(table.index(0, 1))
    images = view.panels["evaluate_images"]
    assert images.isVisible()
    assert numbers(images) == [7, 6, 5, 2, 1, 0]
    assert images.box.currentText() == "Predicted class: cat"


def test_tags_are_those_of_the_project(panel, qtbot, view, context, pets):
    choose(qtbot, panel, "tag")
    assert panel.slices == []
    assert "No image has a tag yet" in panel.status.text()
    context.document.set_dataset(Choice("folder", {"path": str(pets)}))
    images = view.panels["evaluate_images"]
    images.grid.setCurrentIndex(images.rows.index(0, 0))
    assert images.tag_button.isEnabled()
    images.tag_menu.aboutToShow.emit()
    assert [action.text() for action in images.tag_menu.actions()] == ["New tag…"]
    images.tag_menu.chosen.emit("night")
    content = images.rows.content(0)
    assert context.document.project.edits.tags == {content: "night"}
    assert "Tag night" in images.rows.words(0)
    images.tag_menu.aboutToShow.emit()
    texts = [action.text() for action in images.tag_menu.actions()]
    assert texts == ["night", "New tag…", "", "No tag"]
    qtbot.waitUntil(lambda: names(panel) == ["night", "(no tag)"])
    images.tag_menu.actions()[-1].trigger()
    assert not context.document.project.edits
    context.document.undo_stack.undo()
    context.document.undo_stack.undo()
    qtbot.waitUntil(lambda: panel.slices == [])


def test_a_tag_is_typed(view, context, pets, monkeypatch):
    context.document.set_dataset(Choice("folder", {"path": str(pets)}))
    images = view.panels["evaluate_images"]
    images.grid.setCurrentIndex(images.rows.index(0, 0))
    for words, tags in (("  ", []), (" by\nnight ", ["bynight"])):
        monkeypatch.setattr(tagging, "ask_text", lambda *_, words=words: words)
        images.tag_menu.ask()
        assert [*context.document.project.edits.tags.values()] == tags


def test_what_an_earlier_version_did_not_measure_is_said(view, panel, qtbot):
    """At the top, as nothing else is there."""
    view.panels.open("evaluate_slices")
    choose(qtbot, panel, "brightness")
    assert panel.slices == []
    qtbot.waitUntil(lambda: panel.height() > 300 > panel.status.geometry().bottom())
    assert "earlier version" in panel.status.text()
    assert not panel.menu_button.isEnabled()


@pytest.mark.parametrize("ending", ["csv", "svg", "png"])
def test_figure_and_table_are_saved(panel, qtbot, tmp_path, ending):
    choose(qtbot, panel, "predicted")
    file = tmp_path / f"slices.{ending}"
    with qtbot.waitSignal(panel.saver.said):
        panel.saver.save(file)
    if ending == "csv":
        with file.open(encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        assert [(row["Predicted class"], row["images"]) for row in rows] == [
            ("cat", "6"),
            ("dog", "14"),
        ]
        assert float(rows[0]["accuracy"]) == 0.5
    elif ending == "svg":
        assert "Accuracy by predicted class: Test set, 20 images" in file.read_text()
    else:
        assert file.read_bytes().startswith(b"\x89PNG")


def test_each_part_has_the_images_of_its_own(panel, qtbot, view):
    """Also of the part that was not evaluated last."""
    images = view.panels["evaluate_images"]
    found = images.scored.images
    run = RunFolder(view.chooser.path)
    half = np.arange(0, 20, 2)
    columns = ("part", "index", "actual", "predicted", "rank", "probability", "loss", "content")
    kept = {name: getattr(found, name)[half] for name in columns}
    some = replace(found, **kept, paths=found.paths[:0], lengths=found.lengths[:0])
    confusion = cells_of(some.confusion(2))
    result = msgspec.structs.replace(RESULT, part="train", confusion=confusion)
    keep_evaluation(run, KeptEvaluation(result=result, created=2.5), some)
    with qtbot.waitSignal(view.state.looked):
        view.state.look()
    choose(qtbot, panel, "predicted")
    view.part.chosen.emit("train")
    qtbot.waitUntil(lambda: len(images.scored.images) == 10)
    qtbot.waitUntil(
        lambda: panel.plot.accessibleName().endswith("Training set, 10 images (seen in training)")
    )
    view.part.chosen.emit("test")
    qtbot.waitUntil(lambda: len(images.scored.images) == 20)
    qtbot.waitUntil(lambda: panel.plot.accessibleName().endswith("Test set, 20 images"))
    assert sum(each.count for each in panel.slices) == 20
