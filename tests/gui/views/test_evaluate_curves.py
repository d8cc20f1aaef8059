"""ROC and precision-recall curves in the evaluate view, and what a chosen threshold gives."""

from __future__ import annotations

import csv

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from sklearn.metrics import f1_score, roc_curve

from tests.gui.views.pets import RESULT, WEIGHTS
from workbench.core.evaluation.confusion import Confusion
from workbench.core.evaluation.ranking import areas_of
from workbench.gui.evaluate.curves import IS_VALIDATION, NO_VALIDATION, NOT_KEPT, TOO_MANY
from workbench.inference.runner import class_scores
from workbench.protocol.trained.evaluate import Averages, Evaluate, cells_of
from workbench.runs.folder import RunFolder
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation
from workbench.runs.store.image_scores import CLASS_SCORES_NAME, ClassScores

RANDOM = np.random.default_rng(8)


def drawn(count):
    """Probabilities of cats and dogs, and which they are."""
    actual = RANDOM.integers(0, 2, count)
    dog = np.clip(RANDOM.normal(0.35 + 0.3 * actual, 0.2), 0.01, 0.99).round(2)
    return ClassScores(np.stack([1 - dog, dog], axis=1).astype(np.float32), actual)


TEST, VALIDATION = drawn(60), drawn(80)


def evaluation(rows, part):
    areas = areas_of(rows.probabilities, rows.actual)
    matrix = Confusion.of_images(rows.actual, rows.probabilities.argmax(axis=1), 2)
    return msgspec.structs.replace(
        RESULT,
        part=part,
        confusion=cells_of(matrix),
        per_class=class_scores(matrix, ["cat", "dog"], areas),
        roc_auc=Averages(macro=areas.macro.roc_auc, micro=areas.micro.roc_auc),
        average_precision=Averages(macro=areas.macro.average_precision),
    )


def keep(run, rows, part, created, checksum=WEIGHTS):
    result = evaluation(rows, part)
    kept = KeptEvaluation(result=result, created=created, checksum=checksum)
    keep_evaluation(run, kept, None, rows)
    return kept


@pytest.fixture
def panel(pets_view, qtbot):
    """Shows the test images; the validation images were evaluated, too."""
    run = RunFolder(pets_view.chooser.path)
    keep(run, VALIDATION, "validation", 2.0)
    keep(run, TEST, "test", 3.0)
    panel = pets_view.panels["evaluate_curves"]
    pets_view.state.look()
    qtbot.waitUntil(lambda: "costs least" in panel.words.text())
    return panel


def choose(qtbot, panel, number):
    panel.words.setText("")
    panel.classes.setCurrentIndex(panel.classes.findData(number))
    qtbot.waitUntil(lambda: panel.words.text() != "")


def test_the_areas_and_the_average_curve_are_shown(panel):
    areas = areas_of(TEST.probabilities, TEST.actual)
    assert panel.area.value.text() == f"{areas.macro.roc_auc:.3f}"
    assert panel.precision.value.text() == f"{areas.macro.average_precision:.3f}"
    assert panel.top.text() == "always: there are 2 classes"
    assert "Validation images, which chose it:" in panel.words.text()
    assert "Test images:" in panel.words.text()


def test_a_threshold_of_a_class_is_chosen_on_the_validation_images(qtbot, panel):
    choose(qtbot, panel, 1)
    own = VALIDATION.probabilities[:, 1]
    limits = np.unique(own)
    best = max(limits, key=lambda limit: (f1_score(VALIDATION.actual, own >= limit), limit))
    score = f1_score(TEST.actual, TEST.probabilities[:, 1] >= best)
    assert f"from a probability of {best:.3f} on" in panel.words.text()
    assert f"F1 {score:.3f}." in panel.words.text()
    assert panel.roc.marked[1] == panel.recall.marked[0]
    rates, recalls, thresholds = roc_curve(TEST.actual, TEST.probabilities[:, 1])
    place = np.flatnonzero(thresholds >= best)[-1]
    assert panel.roc.marked[0] >= rates[place] - 1e-9
    assert panel.roc.marked[1] >= recalls[place] - 1e-9


def test_goals_and_costs_change_the_threshold(qtbot, panel):
    choose(qtbot, panel, 1)
    panel.goal.setCurrentIndex(panel.goal.findData("cost"))
    qtbot.waitUntil(lambda: "cost " in panel.words.text())
    assert panel.false_alarm.isVisibleTo(panel)
    panel.miss.lineEdit().setText("50")
    panel.miss.entered.emit(50.0)
    qtbot.waitUntil(lambda: "recall 100.0%" in panel.words.text())
    panel.goal.setCurrentIndex(panel.goal.findData("precision"))
    qtbot.waitUntil(lambda: "cost" not in panel.words.text())
    assert panel.least.isVisibleTo(panel)
    assert panel.words.text().startswith("Taken for the class from")
    panel.least.lineEdit().setText("7")
    panel.least.entered.emit("7")
    assert "Precision" in panel.status.text()
    assert panel.wish.precision == 0.9


def test_the_cost_of_unknown_answers_is_chosen(qtbot, panel):
    for field, text in ((panel.error, "1"), (panel.unknown, "9")):
        field.lineEdit().setText(text)
        field.entered.emit(float(text))
    qtbot.waitUntil(lambda: panel.words.text().startswith("No answer is “unknown”"))
    panel.k.lineEdit().setText("1")
    panel.k.entered.emit(1)
    right = int((TEST.probabilities.argmax(axis=1) == TEST.actual).sum())
    qtbot.waitUntil(lambda: f"({right} of 60 images)" in panel.top.text())
    for field, text in ((panel.error, "9"), (panel.unknown, "0")):
        field.lineEdit().setText(text)
        field.entered.emit(float(text))
    qtbot.waitUntil(lambda: panel.words.text().startswith("“Unknown” below"))
    assert "cost 0 an image instead of" in panel.words.text()


def test_a_point_is_in_words_under_the_mouse(qtbot, panel):
    choose(qtbot, panel, 0)
    place = panel.roc.place(0.0, 0.0)
    move = QEvent.Type.MouseMove
    none = Qt.MouseButton.NoButton
    panel.roc.mouseMoveEvent(
        QMouseEvent(move, place, place, none, none, Qt.KeyboardModifier.NoModifier)
    )
    assert panel.status.text() == "false positive rate 0.0%, true positive rate 0.0%"
    panel.roc.leaveEvent(QEvent(QEvent.Type.Leave))
    assert panel.status.text() == ""
    assert panel.roc.words_at(QPointF(0, 0)) == ""


def test_without_validation_images_they_can_be_evaluated(qtbot, pets_view, panel, service):
    run = RunFolder(pets_view.chooser.path)
    keep(run, VALIDATION, "validation", 4.0, checksum="of other weights")
    pets_view.state.look()
    qtbot.waitUntil(lambda: panel.words.text() == NO_VALIDATION)
    assert panel.validate.isVisibleTo(panel)
    panel.validate.click()
    request, answer = service.take(Evaluate)
    assert request.part == "validation"
    keep(run, VALIDATION, "validation", 5.0)
    answer(evaluation(VALIDATION, "validation"))
    qtbot.waitUntil(lambda: panel.words.text() == IS_VALIDATION)
    assert not panel.validate.isVisibleTo(panel)


def test_what_was_not_kept_is_said(qtbot, pets_view):
    panel = pets_view.panels["evaluate_curves"]
    qtbot.waitUntil(lambda: panel.status.text() == NOT_KEPT)
    pets_view.panels.open("evaluate_curves")
    qtbot.waitUntil(lambda: panel.height() > 300 > panel.status.geometry().bottom())
    assert not panel.figures.isVisibleTo(panel)
    run = RunFolder(pets_view.chooser.path)
    keep(run, TEST, "test", 3.0)
    (run.path / CLASS_SCORES_NAME).unlink()
    pets_view.state.look()
    qtbot.waitUntil(lambda: panel.status.text() == TOO_MANY)
    keep(run, TEST, "test", 4.0)
    (run.path / CLASS_SCORES_NAME).write_bytes(b"PK")
    pets_view.state.look()
    qtbot.waitUntil(lambda: "damaged" in panel.status.text())


@pytest.mark.parametrize(("number", "rows"), [(1, 60), (-2, 120)])
def test_the_points_are_saved(qtbot, panel, tmp_path, number, rows):
    choose(qtbot, panel, number)
    for ending in ("csv", "png", "svg"):
        with qtbot.waitSignal(panel.saver.said):
            panel.saver.save(tmp_path / f"curves.{ending}")
    with (tmp_path / "curves.csv").open() as file:
        points = list(csv.DictReader(file))
    assert points[0]["threshold"] == ""
    assert float(points[-1]["recall"]) == float(points[-1]["false positive rate"]) == 1
    assert 10 < len(points) <= 2 * rows + 2
