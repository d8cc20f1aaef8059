"""Calibration of the evaluated model: how far its probabilities can be trusted, and its thresholds.

The thresholds are kept with the run once they have been still for a moment.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QSlider, QWidget

from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question
from workbench.core.calibration import KEPT_SHARE, LEAST_FOR_LIMIT, NUM_BINS, NUM_THRESHOLDS
from workbench.core.format import count, plural, share
from workbench.errors import WorkbenchError
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton, figure_file
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import breakable, plain_label
from workbench.gui.kit.layout import FlowLayout, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import Figure, PaintedWidget, TitledBox, WaitLabel
from workbench.protocol.trained.calibration import (
    Bins,
    Calibrate,
    Calibration,
    CalibrationScores,
    KeptImages,
)
from workbench.protocol.trained.evaluate import Evaluation
from workbench.runs.export.tables import reliability_csv
from workbench.runs.folder import RunFolder
from workbench.runs.store.image_features import keep_thresholds

# reliability figure --------------------------------------------------------------------------
# Two figures of an evaluation: how often a confidence is right, and what a threshold keeps.

_TEXT_PX = 11
_MARGINS_PX = 52, 8, 20, 36  # left, top, right, bottom: numbers and names of the axes
_NUMBERS_PX, _LINE_PX = 36, 16
_NAME_PX = 90
_TICKS = 0.0, 0.5, 1.0
_HINT, _LEAST_PX = QSize(250, 220), 180


class ShareFigure(PaintedWidget):
    """A square of shares from 0 to 100% on both axes, with their names."""

    def __init__(self, theme: Theme, x_words: str, y_words: str) -> None:
        super().__init__(theme, _HINT, _LEAST_PX)
        self._words = x_words, y_words
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def minimumSizeHint(self) -> QSize:
        """Also lower than usual, in a small window."""
        return QSize(_LEAST_PX, _LEAST_PX)

    def area(self) -> QRectF:
        """Rectangle of the plot inside the margins, in pixels."""
        left, top, right, bottom = _MARGINS_PX
        return QRectF(self.rect()).adjusted(left, top, -right, -bottom)

    def place(self, x: float, y: float) -> QPointF:
        """Pixel position of a point of the plot, `x` and `y` in 0..1."""
        area = self.area()
        return QPointF(area.left() + x * area.width(), area.bottom() - y * area.height())

    def paint(self, painter: QPainter) -> None:
        colors, area = self._theme.colors, self.area()
        painter.fillRect(self.rect(), QColor(colors.panel))
        painter.setFont(self._theme.font(_TEXT_PX, tabular=True))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        middle = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
        for tick in _TICKS:
            words, half = share(tick, 0), _LINE_PX / 2
            across, up = self.place(tick, 0), self.place(0, tick)
            painter.setPen(QPen(QColor(colors.line), 1))
            painter.drawLine(up, self.place(1, tick))
            painter.drawLine(across, self.place(tick, 1))
            painter.setPen(QColor(colors.dim))
            beside = QRectF(area.left() - 4 - _NUMBERS_PX, up.y() - half, _NUMBERS_PX, _LINE_PX)
            painter.drawText(beside, right, words)
            below = QRectF(across.x() - _NUMBERS_PX / 2, area.bottom() + 3, _NUMBERS_PX, _LINE_PX)
            painter.drawText(below, middle, words)
        x_words, y_words = self._words
        names = QRectF(area.left(), area.bottom() + 3 + _LINE_PX, area.width(), _LINE_PX)
        painter.drawText(names, middle, x_words)
        painter.save()
        painter.translate(_LINE_PX / 2, area.center().y())
        painter.rotate(-90)
        side = QRectF(-area.height() / 2, -_LINE_PX / 2, area.height(), _LINE_PX)
        painter.drawText(side, Qt.AlignmentFlag.AlignCenter, y_words)
        painter.restore()
        self.paint_shares(painter)

    def paint_names(self, painter: QPainter, place: QPointF, *names: tuple[str, str]) -> None:
        """Names of lines in their colors, one below the other from this place on, in pixels; on a
        ground of their own, as a bar may have the same color.
        """
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for number, (words, color) in enumerate(names):
            top = place.y() + number * _LINE_PX
            width = painter.fontMetrics().horizontalAdvance(words)
            ground = QRectF(place.x() - 2, top, width + 4, _LINE_PX)
            painter.fillRect(ground, QColor(self._theme.colors.panel))
            painter.setPen(QColor(color))
            painter.drawText(QRectF(place.x(), top, _NAME_PX, _LINE_PX), side, words)

    def paint_shares(self, painter: QPainter) -> None:
        """Draws what is in the square."""
        raise NotImplementedError


class ReliabilityFigure(ShareFigure):
    """A reliability diagram: bars where the answers are calibrated, a line where they were not."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Confidence", "Accuracy")
        self._scores: CalibrationScores | None = None
        self.setAccessibleName("Reliability diagram")

    def set_scores(self, scores: CalibrationScores | None) -> None:
        """Shows these; nothing for None."""
        self._scores = scores
        if scores is not None:
            self.setAccessibleDescription("; ".join(_bin_words(scores.after)))
            self.setToolTip(
                "Accuracy of the answers of each confidence; calibrated ones are right\n"
                "as often as they say, which is the dashed line."
            )
        self.update()

    def paint_shares(self, painter: QPainter) -> None:
        """Paints the bars, the line before the temperature, and the diagonal."""
        colors, found = self._theme.colors, self._scores
        if found is not None:
            bar = QColor(colors.train)
            bar.setAlpha(150)
            for number, images in enumerate(found.after.counts):
                if images:
                    top = self.place(number / NUM_BINS, found.after.accuracy[number])
                    end = self.place((number + 1) / NUM_BINS, 0)
                    painter.fillRect(QRectF(top, end).adjusted(0.5, 0, -0.5, 0), bar)
        painter.setPen(QPen(QColor(colors.dim), 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(self.place(0, 0), self.place(1, 1))
        if found is not None and found.temperature is not None:
            painter.setPen(QPen(QColor(colors.validation), 2))
            painter.drawPolyline(self._points(found.before))
            names = ("before", colors.validation), ("after", colors.train)
            self.paint_names(painter, self.place(0.05, 0.97), *names)

    def _points(self, bins: Bins) -> list[QPointF]:
        filled = [number for number, images in enumerate(bins.counts) if images]
        return [self.place(bins.confidence[at], bins.accuracy[at]) for at in filled]


class ThresholdFigure(ShareFigure):
    """Coverage and accuracy over the threshold, which is marked."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Threshold", "")
        self._kept: KeptImages | None = None
        self._total = self._threshold = 0
        self.setAccessibleName("Coverage and accuracy over the threshold")

    def set_kept(self, kept: KeptImages | None, total: int, threshold: int) -> None:
        """Shows what each threshold keeps of so many images, and one of them in percent."""
        self._kept, self._total, self._threshold = kept, total, threshold
        self.update()

    def coverage(self, threshold: int) -> float:
        """Share of all images that a threshold in percent keeps, 0..1."""
        return self._kept.all[threshold] / self._total if self._kept and self._total else 0.0

    def paint_shares(self, painter: QPainter) -> None:
        """Paints two lines with their names, and the threshold."""
        colors, kept = self._theme.colors, self._kept
        if kept is None or not self._total:
            return
        last = NUM_THRESHOLDS - 1
        images = range(NUM_THRESHOLDS)
        coverage = [self.place(at / last, self.coverage(at)) for at in images]
        right = [
            self.place(at / last, kept.right[at] / kept.all[at]) for at in images if kept.all[at]
        ]
        for points, color in ((coverage, colors.train), (right, colors.validation)):
            painter.setPen(QPen(QColor(color), 2))
            painter.drawPolyline(points)
        painter.setPen(QPen(QColor(colors.text), 1.2, Qt.PenStyle.DashLine))
        at = self._threshold / last
        painter.drawLine(self.place(at, 0), self.place(at, 1))
        names = ("accuracy", colors.validation), ("coverage", colors.train)
        low = self.place(0.05, 0) - QPointF(0, 2 * _LINE_PX + 2)
        self.paint_names(painter, low, *names)


def _bin_words(bins: Bins) -> list[str]:
    return [
        f"{share(bins.confidence[at], 0)} confident: {share(bins.accuracy[at], 0)} of "
        f"{count(images)} correct"
        for at, images in enumerate(bins.counts)
        if images
    ]


# calibration ---------------------------------------------------------------------------------

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
