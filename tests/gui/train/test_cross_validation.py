"""The window's cross-validation: real runs through the queue, their mean, spread and confusion."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.class_folders import stripes_project, write_stripes
from workbench.gui.train.series.cross_validation import CrossValidationDialog
from workbench.runs.library.cross_validation import series_result
from workbench.runs.library.series import newest_series, spread_words

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
    dialog.reject()


def type_number(qtbot, field, number):
    field.selectAll()
    qtbot.keyClicks(field.lineEdit(), str(number))
    qtbot.keyClick(field.lineEdit(), Qt.Key.Key_Return)


def test_an_empty_dialog_says_what_to_do(dialog):
    assert "Choose how many folds and seeds" in dialog.figures.text()
    assert not dialog.matrix.isVisible()


def test_one_run_is_no_series(dialog, qtbot, context):
    type_number(qtbot, dialog.folds, 1)
    dialog.start.click()
    assert "2 to 200 runs" in dialog.words.text()
    assert not context.library.runs


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
