"""The window's cross-validation: real runs through the queue, their mean, spread and confusion."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from PySide6.QtCore import Qt
from shiboken6 import isValid

from tests.class_folders import stripes_project, write_stripes
from workbench.gui.train.series import dialogs
from workbench.gui.train.series.dialogs import CrossValidationDialog
from workbench.runs.library.series import (
    FoldPlan,
    begin_series,
    newest_series,
    series_result,
    spread_words,
)
from workbench.runs.state import queue

_PATIENCE_MS = 240_000


@pytest.fixture
def project(tmp_path):
    return stripes_project(write_stripes(tmp_path / "data", 60), epochs=1)


@pytest.fixture
def dialog(window, project, qtbot):
    window.context.library.open()
    window.context.document.new(project)
    view = window.show_view("train")
    panel = view.panels["train_recipe"]
    panel.form.sections["Split"].head.setChecked(True)
    panel.cross_validate.click()
    (dialog,) = window.findChildren(CrossValidationDialog)
    yield dialog
    if isValid(dialog):
        dialog.reject()


def type_number(qtbot, field, number):
    field.selectAll()
    qtbot.keyClicks(field.lineEdit(), str(number))
    qtbot.keyClick(field.lineEdit(), Qt.Key.Key_Return)


def test_an_empty_dialog_says_what_to_do(dialog):
    assert "Choose how many folds and seeds" in dialog.figures.text()
    assert not dialog.matrix.isVisible()
    dialog.show()
    margins = 2 * 16 + 2
    assert dialog.tree.width() >= dialog.width() - margins  # nothing is beside it yet


def test_one_run_is_no_series(dialog, qtbot, context):
    type_number(qtbot, dialog.folds, 1)
    dialog.start.click()
    assert "2 to 200 runs" in dialog.words.text()
    assert not context.library.runs


def test_closed_while_it_queues_and_opened_again_it_queues_the_runs_once(
    dialog, window, qtbot, monkeypatch
):
    begun, may_go_on = threading.Event(), threading.Event()

    def held(*words, **where):
        begun.set()
        may_go_on.wait(_PATIENCE_MS / 1000)
        return begin_series(*words, **where)

    monkeypatch.setattr(dialogs, "begin_series", held)
    monkeypatch.setattr(queue, "_start", lambda _run, _marker: None)  # all go on waiting
    dialog.start.click()
    qtbot.waitUntil(begun.is_set, timeout=_PATIENCE_MS)
    assert not dialog.start.isEnabled()
    dialog.start.click()
    dialog.reject()
    assert not dialog.isVisible(), "closing does not wait"
    window.show_view("train").panels["train_recipe"].cross_validate.click()
    other = next(d for d in window.findChildren(CrossValidationDialog) if d.isVisible())
    other.start.click()
    with qtbot.waitSignal(dialog.destroyed, timeout=_PATIENCE_MS):
        may_go_on.set()
    qtbot.waitUntil(lambda: other.tree.topLevelItemCount() == 5, timeout=_PATIENCE_MS)
    labels = [run.request().label for run in queue.waiting(window.context.library.home)]
    assert labels == [f"fold {number} of 5" for number in range(1, 6)]
    other.reject()


def test_a_late_look_does_not_bring_back_the_series_of_another_project(
    dialog, window, project, qtbot, monkeypatch
):
    document, home = window.context.document, window.context.library.home
    old = begin_series(FoldPlan(document.project, 2, 1), home=home)
    qtbot.waitUntil(lambda: not dialog._background.is_busy, timeout=_PATIENCE_MS)
    begun, may_end = threading.Event(), threading.Event()

    def late(series, home):
        if series == old:
            begun.set()
            may_end.wait(_PATIENCE_MS / 1000)
        return series_result(series, home)

    monkeypatch.setattr(dialogs, "series_result", late)
    dialog._look()
    qtbot.waitUntil(begun.is_set, timeout=_PATIENCE_MS)
    document.new(project)
    begin_series(FoldPlan(document.project, 3, 1), home=home)
    dialog._look()
    qtbot.waitUntil(lambda: dialog.tree.topLevelItemCount() == 3, timeout=_PATIENCE_MS)
    may_end.set()
    qtbot.waitUntil(lambda: not dialog._background.is_busy, timeout=_PATIENCE_MS)
    assert dialog.tree.topLevelItemCount() == 3


@pytest.mark.worker
def test_folds_are_queued_trained_and_summed_up(dialog, window, qtbot):
    type_number(qtbot, dialog.folds, 2)
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.tree.topLevelItemCount() == 2, timeout=_PATIENCE_MS)
    qtbot.waitUntil(
        lambda: dialog.figures.text().startswith("2 of 2 runs completed"), timeout=_PATIENCE_MS
    )
    home = window.context.library.home
    result = series_result(newest_series(window.context.document.project.id, home), home)
    labels = [dialog.tree.topLevelItem(number).text(0) for number in range(2)]
    assert labels == ["fold 1 of 2", "fold 2 of 2"]
    assert spread_words(result.val_accuracy) in dialog.figures.text()
    assert np.sum(result.confusion) == 48
    assert dialog.matrix.isVisible()
    assert dialog.matrix._counts.tolist() == result.confusion.tolist()

    # Another dialog, as after the window was closed, shows the same series.
    other = CrossValidationDialog(window.context, window)
    other.show()
    qtbot.waitUntil(lambda: other.figures.text() == dialog.figures.text(), timeout=_PATIENCE_MS)
    other.reject()
