"""The line above the scores: the model, which images, and the buttons, which keep their places."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt

from tests.gui.views.pets import RESULT
from tests.gui.views.test_evaluate_view import shown, view  # noqa: F401 - fixtures
from tests.looks import wait_until_painted
from workbench.protocol.bases import ErrorParts
from workbench.protocol.messages import Failed, Progress
from workbench.protocol.trained.evaluate import Evaluate


def places_of(head):
    """The left and right ends in pixels of what can be clicked above the scores."""
    parts = head.chooser, head.part, head.start, head.other
    return [(part.geometry().left(), part.geometry().right()) for part in parts]


@pytest.mark.parametrize("width", [860, 1200])
def test_buttons_keep_their_places_whatever_the_model_and_the_state(
    qtbot, show_evaluate, service, model, context, *, width
):
    model("a")
    head = show_evaluate(service=service)
    head.resize(width, 700)
    qtbot.waitUntil(lambda: head.top.width() == width - 36)
    before = places_of(head)
    box, name = head.chooser.box, "12 · lr 0.001 · batch 64 · today 14:27 · test 79.4%"
    assert width < 1200 or box.fontMetrics().horizontalAdvance(name) < box.width() - 40
    assert all(end < start for (_, end), (start, _) in pairwise(before))
    long = model("learning_rate_0.001_cosine_augmented_batch_512_second_repeat")
    context.library.refresh()
    path = long.folder.path
    qtbot.waitUntil(lambda: head.chooser.box.findData(str(path)) >= 0)
    head.chooser.choose(path)
    qtbot.waitUntil(lambda: head.chooser.path == path)
    head.start.click()
    _, answer = service.take(Evaluate)
    answer(Progress(id=1, text="Evaluating the test images", fraction=0.5))
    qtbot.waitUntil(head.cancel.isVisible)
    wait_until_painted(qtbot, head)
    assert head.cancel.geometry().left() > before[-1][1]
    assert head.cancel.geometry().right() < head.top.width()
    assert places_of(head) == before
    answer(RESULT)
    qtbot.waitUntil(head.cancel.isHidden)
    wait_until_painted(qtbot, head)
    assert places_of(head) == before


def test_a_part_is_chosen_from_the_list(shown, qtbot):  # noqa: F811
    shown.part.setFocus()
    qtbot.keyClick(shown.part, Qt.Key.Key_Down)
    assert shown.part.currentText() == "Validation images"
    assert shown.state.part == "validation"
    assert shown.part.findText("Other images") < 0
    shown.part.set_offered(["test", "validation", "train", "other"])
    assert shown.part.currentText() == "Validation images"
    assert shown.part.findText("Other images") == 3


def test_the_page_without_scores_says_that_it_is_being_evaluated(view, service, qtbot):  # noqa: F811
    view.part.chosen.emit("train")
    qtbot.waitUntil(view.hint.action.isVisible)
    before = view.hint.title.text(), view.hint.text.text()
    assert before[0] == "Not evaluated on the training images yet"
    view.start.click()
    assert view.hint.title.text() == "Evaluating"
    _, answer = service.take(Evaluate)
    answer(Progress(id=1, text="Evaluating the training images", fraction=0.25))
    view.state.look()  # as when the view is shown again
    wait_until_painted(qtbot, view)
    assert view.hint.title.text() == "Evaluating the training images, 25%"
    assert view.hint.text.text() == "The scores appear here."
    answer(Failed(id=1, error=ErrorParts(what="Canceled.")))
    assert (view.hint.title.text(), view.hint.text.text()) == before


def test_what_cannot_be_clicked_while_an_evaluation_runs_is_gray(view, service, qtbot):  # noqa: F811
    view.part.chosen.emit("train")
    qtbot.waitUntil(view.hint.action.isVisible)
    view.hint.action.setFocus()
    clickable = view.start, view.other, view.part, view.chooser.box, view.hint.action
    assert all(part.isEnabled() for part in clickable)
    view.hint.action.click()
    assert not any(part.isEnabled() for part in clickable)
    assert view.cancel.hasFocus()
    service.take(Evaluate)[1](Failed(id=1, error=ErrorParts(what="Canceled.")))
    assert all(part.isEnabled() for part in clickable)
    assert view.start.hasFocus()
