"""Calibration of the evaluated model: how far its probabilities can be trusted, and its thresholds.

The thresholds are kept with the run once they have been still for a moment.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QCheckBox, QSlider, QWidget

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.core.calibration.distance import KEPT_SHARE, LEAST_FOR_LIMIT
from workbench.core.calibration.reliability import NUM_THRESHOLDS
from workbench.core.format import count, plural, share
from workbench.errors import WorkbenchError
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton
from workbench.gui.evaluate.reliability_figure import ReliabilityFigure, ThresholdFigure
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.kit.buttons import button
from workbench.gui.kit.cards import Figure, TitledBox
from workbench.gui.kit.labels import breakable, plain_label
from workbench.gui.kit.layout import FlowLayout, column, row
from workbench.gui.kit.wait_label import WaitLabel
from workbench.gui.plots.figure_file import figure_file
from workbench.protocol.trained.calibration import (
    Calibrate,
    Calibration,
    CalibrationScores,
    KeptImages,
)
from workbench.protocol.trained.evaluate import Evaluation
from workbench.runs.export.score_tables import reliability_csv
from workbench.runs.folder import RunFolder
from workbench.runs.store.references import keep_thresholds

STILL_MS = 400
_MOST = NUM_THRESHOLDS - 1
_NONE = "This evaluation is of an earlier version, which measured no calibration. Evaluate again."


class CalibrationPanel(TitledBox):
    """Reliability diagram, expected calibration error, and when an answer is "unknown"."""

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("Calibration")
        theme = state.context.theme
        self._state = state
        self._scores: CalibrationScores | None = None
        self._question = Question(state.context.service)
        titles = ("NLL before", "NLL after", "ECE before", "ECE after", "Temperature")
        figures = [Figure(title) for title in titles]
        self.loss_before, self.loss_after, self.before, self.after, self.temperature = figures
        for figure in (self.loss_before, self.loss_after):
            figure.setToolTip(
                "Negative log-likelihood: the mean loss of the probabilities of the actual\n"
                "classes, without and with the temperature"
            )
        for figure in (self.before, self.after):
            figure.setToolTip(
                "Expected calibration error: the mean gap between confidence and accuracy,\n"
                "over 15 bins, without and with the temperature"
            )
        self.temperature.setToolTip("The logits are divided by it. Above 1 lowers the confidence.")
        self.reliability, self.curves = ReliabilityFigure(theme), ThresholdFigure(theme)
        self.diagrams = QWidget()
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.limit = plain_label(role="value")
        self.covered = plain_label(wrap=True)
        self.distance = QCheckBox("Unlike the training images")
        self.calibrate = button("Calibrate")
        self.source = plain_label(role="dim", wrap=True)
        self.words = plain_label(role="dim", wrap=True)
        self.wait = WaitLabel()
        self.menu_button = SaveFigureButton(theme, "reliability diagram")
        self._timer = QTimer(self)
        self._keeper = Background(self, max_threads=1)
        self._pending: Path | None = None
        self._said_of: Path | None = None
        self._changes: dict[str, Any] = {}
        self._least = 0.0  # as it is kept, which may be between two places of the slider
        self._build(figures)
        self._connect()

    def _build(self, figures: list[Figure]) -> None:
        self.slider.setRange(0, _MOST)
        self.slider.setAccessibleName("Least probability of an answer, in percent")
        self.slider.setToolTip("Answers that are less probable are “unknown”")
        self.limit.setMinimumWidth(self.limit.fontMetrics().horizontalAdvance("below 70.25%"))
        self._timer.setSingleShot(True)
        self._timer.setInterval(STILL_MS)
        self.saver = FigureSaver(
            self, self._state.background, "reliability", "reliability diagram", self._writer
        )
        self.menu_button.set_saver(self.saver)
        row((self.reliability, 1), (self.curves, 1), parent=self.diagrams, spacing=8)
        self.unknown = QWidget()
        column(
            plain_label("Answer “unknown”", role="strong"),
            row(plain_label("Not confident enough"), (self.slider, 1), self.limit, spacing=8),
            self.distance,
            self.covered,
            parent=self.unknown,
            spacing=6,
        )
        flow = FlowLayout(spacing=20, line_spacing=6)
        for figure in figures:
            flow.addWidget(figure)
        self.column.addLayout(row((flow, 1), self.menu_button, spacing=12))
        self.column.addWidget(self.source)
        self.column.addWidget(self.words)
        self.column.addWidget(self.diagrams, 1)
        self.column.addWidget(self.unknown)
        self.column.addLayout(row(self.calibrate, (self.wait, 1), spacing=12))
        self.column.addStretch(0)
        self.setMinimumWidth(430)

    def _connect(self) -> None:
        state = self._state
        state.evaluated.connect(self._show)
        state.looked.connect(self._show_thresholds)
        state.closing.connect(self._close)
        self.slider.valueChanged.connect(self._on_least_changed)
        self.distance.toggled.connect(lambda is_on: self._on_changed(checks_distance=is_on))
        self.calibrate.clicked.connect(self._calibrate)
        self._timer.timeout.connect(self._keep)
        self.saver.said.connect(self.wait.say)

    # showing -----------------------------------------------------------------------------

    @property
    def _found(self) -> Calibration:
        known = self._state.known
        return (known.calibration if known is not None else None) or Calibration()

    def _show(self, result: Evaluation) -> None:
        scores = self._scores = result.calibration
        self.reliability.set_scores(scores)
        for part in (self.diagrams, self.menu_button):
            part.setVisible(scores is not None)
        errors = (scores.before.error, scores.after.error) if scores is not None else (None, None)
        losses = (
            (scores.loss_before, scores.negative_log_likelihood)
            if scores is not None
            else (None, None)
        )
        shown = (self.before, self.after, self.loss_before, self.loss_after)
        for figure, value in zip(shown, (*errors, *losses), strict=True):
            figure.value.setText("–" if value is None else f"{value:.3f}")
        found = scores.temperature if scores is not None else None
        self.temperature.value.setText("–" if found is None else f"{found:.2f}")
        self.words.setText(_remark(scores) if scores is not None else _NONE)
        self.source.setText(breakable(self._source(result)))
        self._show_live()

    def _source(self, result: Evaluation) -> str:
        """Which images the figures are of, and what was chosen on them."""
        words = self._state.images_words()
        scores = result.calibration
        found = scores.temperature if scores is not None else None
        is_fitted = result.part == "validation" and found is not None
        return f"{words}. The temperature was fitted on these images." if is_fitted else words

    def _show_thresholds(self) -> None:
        """Shows the thresholds of the run, unless others are about to be kept."""
        if self._state.run != self._said_of and not self._question.is_open:
            self._said_of = self._state.run
            self.wait.say("")
        if self._pending == self._state.run is not None:
            return
        self._keep()
        found = self._found
        for part in (self.slider, self.distance):
            part.blockSignals(True)
        self._least = found.least_probability or 0.0
        self.slider.setValue(round(_MOST * self._least))
        self.distance.setChecked(found.limit is not None)
        self.distance.setEnabled(found.distance is not None)
        self.distance.setToolTip(_distance_tip(found))
        for part in (self.slider, self.distance):
            part.blockSignals(False)
        self.calibrate.setVisible(found.temperature is None)
        self._show_live()

    def _kept(self) -> KeptImages | None:
        scores = self._scores
        if scores is None:
            return None
        is_near = self.distance.isChecked() and scores.kept_near is not None
        return scores.kept_near if is_near else scores.kept

    def _show_live(self) -> None:
        at, scores, kept = self.slider.value(), self._scores, self._kept()
        self.limit.setText(f"below {100 * self._least:.4g}%" if self._least else "never")
        self.curves.set_kept(kept, scores.kept.all[0] if scores is not None else 0, at)
        self.covered.setVisible(kept is not None)
        if kept is None or scores is None:
            return
        total, images, right = scores.kept.all[0], kept.all[at], kept.right[at]
        covered = share(images / total) if total else "–"
        accuracy = f"{share(right / images)} of these correct" if images else "none of them correct"
        self.covered.setText(
            f"Coverage {covered}: {count(images)} of {count(total)} images have an answer, "
            f"{accuracy}."
        )

    # keeping -----------------------------------------------------------------------------

    def _on_least_changed(self, at: int) -> None:
        self._least = at / _MOST
        self._on_changed(least_probability=self._least or None)

    def _on_changed(self, **change: Any) -> None:
        """Keeps an argument of `keep_thresholds` soon; what was not changed stays as it is."""
        run = self._state.run
        if run != self._pending:
            self._keep()
        self._show_live()
        self._pending = run
        self._changes.update(change)
        self._timer.start()

    def _keep(self) -> None:
        run, changes = self._pending, self._changes
        self._pending, self._changes = None, {}
        if run is None:
            return
        self._timer.stop()
        self._keeper.run(
            partial(keep_thresholds, RunFolder(run), **changes),
            lambda _found: self._on_kept("Saved with the run."),
            lambda error: self._on_kept(str(error), is_bad=True),
        )

    def _on_kept(self, words: str, *, is_bad: bool = False) -> None:
        self.wait.say(words, is_bad=is_bad)
        self._state.look()

    def _close(self) -> None:
        self._keep()
        self._keeper.finish()
        self._question.drop()

    def _calibrate(self) -> None:
        run = self._state.run
        if run is None or self._question.is_open:
            return
        self.calibrate.setEnabled(False)
        self._said_of = run
        self.wait.wait_for("Calibrating")
        self._question.ask(
            Calibrate(id=0, model=str(run)),
            Handlers(
                on_done=lambda done: self._on_calibrated(done.text),
                on_failed=self._on_failed,
                on_progress=lambda progress: self.wait.wait_for(progress.text),
            ),
        )

    def _on_calibrated(self, words: str) -> None:
        self.calibrate.setEnabled(True)
        self._on_kept(words if self._state.run == self._said_of else "")

    def _on_failed(self, error: WorkbenchError) -> None:
        self.calibrate.setEnabled(True)
        self.wait.say(str(error) if self._state.run == self._said_of else "", is_bad=True)

    def _writer(self, path: Path) -> Callable[[], None]:
        return figure_file(path, self.diagrams, self._title(), self._table)

    def _title(self) -> str:
        return f"Reliability diagram: {self._state.images_words()}"

    def _table(self) -> str:
        scores = self._scores
        return reliability_csv(scores.before, scores.after) if scores is not None else ""


def _distance_tip(found: Calibration) -> str:
    """How far is too far, and how sure that is."""
    if found.distance is None:
        return found.no_distance or "The run is not calibrated yet"
    words = found.distance.words or f"{share(KEPT_SHARE, 0)} of the validation images are within"
    return (
        f"Measured by the last hidden layer. The limit is {found.distance.limit:.3f}:\n{words}.\n"
        f"Off at first where there are fewer than {LEAST_FOR_LIMIT} validation images"
    )


def _remark(scores: CalibrationScores) -> str:
    """What the errors are compared with, and why there is no temperature."""
    reason = f"Not calibrated: {scores.reason}. " if scores.reason else ""
    by_chance, images = scores.after.error_by_chance, plural(sum(scores.after.counts), "image")
    words = f"{reason}ECE by chance, perfectly calibrated: {by_chance:.3f} with {images}."
    if max(scores.before.error, scores.after.error) <= by_chance:
        words += " Errors up to that are chance with so few images."
    return words
