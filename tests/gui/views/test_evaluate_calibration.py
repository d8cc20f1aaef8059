"""The calibration page of the evaluate view: its figures, and thresholds that go to the run."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QFontMetrics

from tests.gui.views.pets import RESULT
from tests.gui.views.scripted import give_weights
from tests.looks import wait_until_painted
from workbench.core.calibration import kept_counts, references, reliability
from workbench.gui.evaluate.calibration import ReliabilityFigure
from workbench.gui.kit.theme import Theme
from workbench.protocol.messages import Done
from workbench.protocol.trained.calibration import (
    Bins,
    Calibrate,
    Calibration,
    CalibrationScores,
    DistanceMark,
    KeptImages,
)
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation
from workbench.runs.store.image_features import keep_calibration, keep_thresholds

CONFIDENCE = np.array([0.99, 0.95, 0.9, 0.8, 0.72, 0.6, 0.5, 0.45, 0.4, 0.3], np.float32)
IS_RIGHT = np.array([1, 1, 1, 1, 1, 0, 1, 0, 0, 0], bool)
NEAR = np.array([1, 1, 1, 1, 1, 1, 1, 1, 0, 0], bool)


def bins(confidence):
    found = reliability(confidence, IS_RIGHT)
    return Bins(counts=found.counts, confidence=found.confidence, accuracy=found.accuracy)


def kept(chosen):
    everything, right = kept_counts(CONFIDENCE[chosen], IS_RIGHT[chosen])
    return KeptImages(all=everything, right=right)


SCORES = CalibrationScores(
    temperature=1.5,
    expected_calibration_error=bins(CONFIDENCE).error,
    before=bins(np.minimum(1, CONFIDENCE * 1.1)),
    after=bins(CONFIDENCE),
    kept=kept(np.ones(10, bool)),
    kept_near=kept(NEAR),
    negative_log_likelihood=0.612,
    loss_before=0.7,
)
FOUND = Calibration(
    temperature=1.5, count=90, distance=DistanceMark(checksum="0" * 64, limit=0.4, is_on=False)
)


@pytest.fixture
def run(model):
    made = model("cifar")
    give_weights(made)
    folder = RunFolder(made.folder.path)
    write_card(
        folder.path,
        ModelCard(
            class_names=["cat", "dog"], input_shape=[8, 8, 1], fit="crop", graph={}, checksum="c"
        ),
    )
    hidden = np.random.default_rng(3).normal(size=(60, 5)).astype(np.float32)
    keep_calibration(folder, FOUND, references(hidden))
    result = msgspec.structs.replace(RESULT, calibration=SCORES)
    keep_evaluation(folder, KeptEvaluation(result=result, checksum="c", created=5.0))
    return folder


@pytest.fixture
def view(qtbot, show_evaluate, service, run):
    view = show_evaluate(service=service)
    qtbot.waitUntil(lambda: view.state.latest is not None)
    return view


@pytest.fixture
def panel(view):
    return view.panels["evaluate_calibration"]


def test_it_shows_the_error_before_and_after(panel):
    assert panel.before.value.text() == f"{SCORES.before.error:.3f}"
    assert panel.after.value.text() == f"{SCORES.after.error:.3f}"
    assert panel.loss_before.value.text() == "0.700"
    assert panel.loss_after.value.text() == "0.612"
    by_chance = SCORES.after.error_by_chance
    assert by_chance > 0.1  # ten images say little
    words = f"ECE by chance, perfectly calibrated: {by_chance:.3f} with 10 images."
    assert SCORES.after.error < by_chance
    assert panel.words.text() == f"{words} Errors up to that are chance with so few images."
    assert panel.temperature.value.text() == "1.50"
    assert panel.limit.text() == "never"
    assert panel.covered.text().startswith("Coverage 100.0%: 10 of 10 images have an answer, 60.0%")
    assert "confident: 100% of 1 correct" in panel.reliability.accessibleDescription()
    assert panel.calibrate.isHidden()


def test_the_mean_loss_says_that_it_is_of_before(view, panel):
    scores = view.panels["evaluate_classes"]
    assert "loss (uncalibrated)" in scores.source.text()
    assert scores.loss.value.text() == f"{RESULT.loss:.4f}"
    both = msgspec.structs.replace(RESULT, calibration=SCORES, negative_log_likelihood=0.4567)
    view.state.evaluated.emit(both)
    assert scores.loss.value.text() == "0.4567"  # the mean of the losses of the images
    assert f"loss (uncalibrated) {RESULT.loss:.4f}" in scores.source.text()


def test_on_validation_images_it_is_said_that_they_made_the_temperature(qtbot, view, panel, run):
    assert panel.source.text() == "Test set, 20 images"
    result = msgspec.structs.replace(RESULT, part="validation", calibration=SCORES)
    keep_evaluation(run, KeptEvaluation(result=result, checksum="c", created=6.0))
    view.part.chosen.emit("validation")
    view.state.look()
    words = "Validation set, 20 images. The temperature was fitted on these images."
    qtbot.waitUntil(lambda: panel.source.text() == words)
    none = msgspec.structs.replace(SCORES, temperature=None)
    result = msgspec.structs.replace(result, calibration=none)
    keep_evaluation(run, KeptEvaluation(result=result, checksum="c", created=7.0))
    view.state.look()
    qtbot.waitUntil(lambda: panel.source.text() == "Validation set, 20 images")


def test_coverage_and_accuracy_follow_the_slider_and_the_run_keeps_it(qtbot, panel, run):
    panel.slider.setValue(70)
    assert panel.limit.text() == "below 70%"
    assert panel.covered.text() == (
        "Coverage 50.0%: 5 of 10 images have an answer, 100.0% of these correct."
    )
    qtbot.waitUntil(lambda: run.model_card().calibration.least_probability == 0.7)
    assert not run.model_card().calibration.distance.is_on
    panel.slider.setValue(0)
    panel.distance.click()
    assert panel.covered.text().startswith("Coverage 80.0%: 8 of 10 images")
    assert panel.curves.coverage(0) == 0.8
    qtbot.waitUntil(lambda: run.model_card().calibration.distance.is_on)
    assert run.model_card().calibration.least_probability is None
    qtbot.waitUntil(lambda: panel.wait.text() == "Saved with the run.")


def test_what_was_changed_last_is_kept_when_the_window_closes(view, panel, run):
    for _ in range(3):
        view.state.look()  # what is read goes before it
    panel.slider.setValue(42)
    view.close_background()
    assert run.model_card().calibration.least_probability == 0.42


def test_a_threshold_set_elsewhere_is_shown(qtbot, view, panel, run):
    card = run.model_card()
    found = msgspec.structs.replace(card.calibration, least_probability=0.35)
    write_card(run.path, msgspec.structs.replace(card, calibration=found))
    view.state.look()
    qtbot.waitUntil(lambda: panel.slider.value() == 35)


def test_only_what_was_changed_is_written(qtbot, view, panel, run):
    keep_thresholds(run, least_probability=0.705)
    view.state.look()
    qtbot.waitUntil(lambda: panel.limit.text() == "below 70.5%")
    panel.distance.click()
    qtbot.waitUntil(lambda: run.model_card().calibration.distance.is_on)
    assert run.model_card().calibration.least_probability == 0.705


def test_changes_of_two_runs_in_a_row_are_both_kept(qtbot, view, panel, run, model):
    other = RunFolder(model("other").folder.path)
    write_card(other.path, run.model_card())
    panel.slider.setValue(70)
    view.state.choose(other.path, "other")
    panel.slider.setValue(40)
    qtbot.waitUntil(lambda: other.model_card().calibration.least_probability == 0.4)
    assert run.model_card().calibration.least_probability == 0.7


def test_a_run_of_an_earlier_version_is_calibrated_on_request(qtbot, view, panel, run, service):
    write_card(run.path, msgspec.structs.replace(run.model_card(), calibration=None))
    view.state.look()
    qtbot.waitUntil(lambda: not panel.calibrate.isHidden())
    assert not panel.distance.isEnabled()
    panel.calibrate.click()
    request, answer = service.take(Calibrate)
    assert request.model == str(run.path)
    answer(Done(id=1, text="Calibrated on 90 validation images."))
    assert panel.wait.text() == "Calibrated on 90 validation images."
    assert panel.calibrate.isEnabled()


def test_an_evaluation_without_calibration_says_so(qtbot, view, panel):
    view.panels.open("evaluate_calibration")
    view.state.evaluation = None
    view.state.evaluated.emit(RESULT)
    assert "Evaluate again" in panel.words.text()
    assert panel.diagrams.isHidden()
    assert panel.before.value.text() == "–"
    wait_until_painted(qtbot, panel)
    assert panel.height() > 500
    assert panel.source.y() - panel.temperature.geometry().bottom() < 40


@pytest.mark.parametrize("ending", ["png", "svg", "csv"])
def test_the_diagram_is_saved(qtbot, panel, tmp_path, ending):
    path = tmp_path / f"reliability.{ending}"
    with qtbot.waitSignal(panel.saver.said):
        panel.saver.save(path)
    data = path.read_bytes()
    if ending == "csv":
        head, *lines = data.decode().splitlines()
        assert head.split(",")[:3] == ["from", "to", "images uncalibrated"]
        assert len(lines) == 15
        assert lines[-1].split(",")[5:] == ["2", "0.970000", "1.000000"]
    else:
        assert data.startswith({"png": b"\x89PNG", "svg": b"<?xml"}[ending])
        assert len(data) > 2_000


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_names_in_the_diagram_are_not_on_bars_of_their_color(qtbot, mode):
    theme = Theme(mode)
    figure = ReliabilityFigure(theme)
    qtbot.addWidget(figure)
    figure.resize(250, 220)
    full = Bins(counts=[5] * 15, confidence=[0.5] * 15, accuracy=[1.0] * 15)
    figure.set_scores(msgspec.structs.replace(SCORES, after=full))
    image = figure.grab().toImage()
    at = figure.place(0.05, 0.97).toPoint()
    metrics = QFontMetrics(theme.font(11, tabular=True))
    for line, words in enumerate(("before", "after")):
        inner = QRect(at.x(), at.y() + 16 * line + 1, metrics.horizontalAdvance(words), 14)
        found = image.copy(inner)
        seen = [found.pixelColor(x, y) for x in range(inner.width()) for y in range(14)]
        assert seen.count(QColor(theme.colors.panel)) > len(seen) / 2
