"""Two figures of an evaluation: how often a confidence is right, and what a threshold keeps."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy

from workbench.core.calibration.reliability import NUM_BINS, NUM_THRESHOLDS
from workbench.core.format import count, share
from workbench.gui.kit.painted import PaintedWidget
from workbench.gui.kit.theme import Theme
from workbench.protocol.trained.calibration import Bins, CalibrationScores, KeptImages

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
