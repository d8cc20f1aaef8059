"""The images of an evaluation: a cell leads to them, and they are edited in the open project."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from tests.gui.views.pets import numbers
from workbench.core.projects.project import Choice
from workbench.protocol.trained.evaluate import cells_of
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation


@pytest.fixture
def view(pets_view):
    return pets_view


def test_the_largest_losses_come_first(view):
    assert numbers(view.panels["evaluate_images"]) == [7, 6, 5, 4, 3]


def test_a_cell_leads_to_its_images_and_a_name_to_its_class(view, qtbot):
    panel, chart = view.panels["evaluate_images"], view.panels["evaluate_confusion"].map
    middle = chart.cell_rect(0, 1).center().toPoint()
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=middle)
    assert panel.isVisible()
    assert numbers(panel) == [4, 3]
    assert panel.box.currentText() == "Actual cat, predicted dog"
    assert panel.rows.lines(0) == ("dog 75.0%", "actual cat", "loss 0.84")
    left = QPointF(chart.cell_rect(0, 0).left() - 8, middle.y()).toPoint()
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=left)
    assert numbers(panel) == [4, 3, 2, 1, 0]
    chart.point_at((1, 0))
    QTest.keyClick(chart, Qt.Key.Key_Return)
    assert numbers(panel) == [7, 6, 5]


@pytest.fixture
def keep(view):
    """Keeps the pets of some numbers as another part of the run's split."""

    def make(part, are_right):
        run = RunFolder(view.chooser.path)
        found = view.panels["evaluate_images"].scored
        images = found.images
        if are_right:
            images = replace(images, predicted=images.actual, rank=np.zeros_like(images.rank))
        confusion = cells_of(images.confusion(2))
        result = msgspec.structs.replace(found.found.kept.result, part=part, confusion=confusion)
        kept = KeptEvaluation(result=result, created=2.5, checksum=found.found.kept.checksum)
        keep_evaluation(run, kept, images)

    return make


@pytest.mark.parametrize(
    ("are_right", "shown"), [(False, ("Wrong predictions", 5)), (True, ("Top losses", 20))]
)
def test_another_part_begins_with_its_own_choice(view, qtbot, keep, are_right, shown):
    panel = view.panels["evaluate_images"]
    keep("train", are_right)
    view.state.images_wanted.emit(0, 1)
    assert panel.box.currentText() == "Actual cat, predicted dog"
    view.part.chosen.emit("train")
    view.state.look()
    qtbot.waitUntil(lambda: (panel.box.currentText(), panel.rows.rowCount()) == shown)


def test_images_are_edited_in_the_project_and_undo_brings_them_back(view, context, pets):
    context.document.set_dataset(Choice("folder", {"path": str(pets)}))
    panel = view.panels["evaluate_images"]
    panel.grid.setCurrentIndex(panel.rows.index(0, 0))
    assert panel.relabel_button.isEnabled()
    content = panel.rows.content(0)
    panel.relabel("cat")
    assert context.document.project.edits.labels == {content: "cat"}
    assert view.state.edited.startswith("1 image edited since: the scores are those from before.")
    assert panel.rows.lines(0)[1] == "now cat"
    assert len(panel.rows.badges(0)) == 1, "neither right nor wrong: it had another class"
    panel.move_to_training()
    assert context.document.project.edits.parts == {content: "train"}
    panel.leave_out()
    assert context.document.project.edits.left_out == {content}
    for _ in range(3):
        context.document.undo_stack.undo()
    assert not context.document.project.edits.names_images
    assert panel.rows.lines(0)[1] == "actual dog"
    assert view.state.edited == ""


def test_images_of_another_data_set_are_shown_but_not_edited(view, context):
    panel = view.panels["evaluate_images"]
    panel.grid.setCurrentIndex(panel.rows.index(0, 0))
    assert not panel.leave_out_button.isEnabled()
    assert "is not the data set of the open project" in panel.status.text()
    panel.leave_out()
    assert not context.document.project.edits


def compared(view, qtbot, model, change):
    """Compares with a run that has kept `change` of the images; returns the panel."""
    panel = view.panels["evaluate_images"]
    images, here = change(panel.scored.images), panel.scored.found.kept
    other = model("better")
    path = other if hasattr(other, "joinpath") else other.path
    shape = {"input_shape": [8, 8, 3], "fit": "crop", "graph": {}}
    write_card(path, ModelCard(class_names=["cat", "dog"], **shape))
    result = msgspec.structs.replace(here.result, confusion=cells_of(images.confusion(2)))
    keep_evaluation(RunFolder(path), KeptEvaluation(result=result, created=2.5), images)
    panel.scored.others = [(path, "better")]
    panel.scored.changed.emit()
    panel.others.setCurrentIndex(1)
    panel.others.activated.emit(1)
    qtbot.waitUntil(lambda: panel.scored.other is not None)
    return panel


def test_images_relabeled_between_two_runs_are_neither_right_nor_wrong(view, qtbot, model):
    def change(images):
        actual = images.actual.copy()
        actual[[5, 9]] = 0
        return replace(images, actual=actual, predicted=images.actual)

    panel = compared(view, qtbot, model, change)
    assert panel.box.currentText() == "Wrong here, right there"
    assert numbers(panel) == [7, 6, 4, 3]
    assert "2 labeled differently not counted" in panel.status.text()
    panel.box.setCurrentIndex(panel.box.findText("Labeled differently there"))
    panel.box.activated.emit(panel.box.currentIndex())
    assert numbers(panel) == [9, 5]
    assert panel.rows.lines(0)[1:] == ("actual dog, there cat", "other: dog 75.0%")
    assert "Actual dog, there cat\n" in panel.rows.words(0)
    assert "not counted" not in panel.status.text()


def test_images_are_compared_with_those_of_another_run(view, qtbot, model):
    panel = compared(view, qtbot, model, lambda images: replace(images, predicted=images.actual))
    assert panel.box.currentText() == "Wrong here, right there"
    assert numbers(panel) == [7, 6, 5, 4, 3]
    assert panel.rows.lines(0)[2] == "other: dog 75.0%"
    assert panel.box.findText("Labeled differently there") == -1
    panel.box.setCurrentIndex(panel.box.findText("Right here, wrong there"))
    panel.box.activated.emit(panel.box.currentIndex())
    assert numbers(panel) == []
    panel.others.setCurrentIndex(0)
    panel.others.activated.emit(0)
    assert panel.scored.other is None
    assert panel.box.findText("Right here, wrong there") == -1
    assert panel.rows.lines(0)[2] == "loss 1.47"


def test_the_project_is_trained_again_from_the_weights_of_the_run(view, qtbot, context, pets):
    panel, wanted, run = view.panels["evaluate_images"], [], view.state.run
    view.state.train_again.connect(wanted.append)
    assert not panel.train_button.isEnabled(), "the images are not of the open project"
    context.document.set_dataset(Choice("folder", {"path": str(pets)}))
    view.state.choose(run, "cifar")
    qtbot.mouseClick(panel.train_button, Qt.MouseButton.LeftButton)
    assert wanted == [run]


def test_scores_from_before_an_edit_are_remarked_on(view):
    view.state.set_edited("1 image edited since.")
    assert "1 image edited since." in view.note.text()
    assert view.note.isVisible()
    view.state.set_edited("")
    assert "edited" not in view.note.text()


def test_in_a_narrow_panel_no_button_and_no_caption_is_cut(view, qtbot):
    panel = view.panels["evaluate_images"]
    panel.setParent(None)
    qtbot.addWidget(panel)
    panel.resize(panel.minimumWidth(), 600)
    panel.show()
    qtbot.waitUntil(lambda: panel.train_button.isVisible() and panel.width() <= 440)
    parts = (
        panel.relabel_button,
        panel.leave_out_button,
        panel.to_training_button,
        panel.tag_button,
        panel.train_button,
    )
    for part in parts:
        qtbot.waitUntil(lambda part=part: part.width() >= part.sizeHint().width())
    assert panel.subject.height() >= panel.subject.heightForWidth(panel.subject.width())


def test_training_images_are_not_moved_to_training(view, context, pets):
    context.document.set_dataset(Choice("folder", {"path": str(pets)}))
    panel = view.panels["evaluate_images"]
    panel.grid.selectAll()
    assert not panel.scored.reason()
    assert panel.leave_out_button.isEnabled()
    assert not panel.to_training_button.isEnabled(), "they are there already"
    edits = replace(context.document.project.edits, parts={panel.rows.content(0): "test"})
    context.document.set_edits(edits, "Move to test")
    panel.grid.clearSelection()
    panel.grid.selectAll()
    assert panel.to_training_button.isEnabled()
