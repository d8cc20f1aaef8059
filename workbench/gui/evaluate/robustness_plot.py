"""Accuracy over the strength of alterations: a line for each, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.alterations import strength_words
from workbench.core.format import share
from workbench.gui.kit.painted import PaintedWidget
from workbench.gui.kit.theme import Theme
from workbench.protocol.trained.robustness import AlteredAccuracy, Robustness

_HEIGHT_PX = 168
_LEFT_PX, _RIGHT_PX, _TOP_PX, _BOTTOM_PX = 44, 16, 28, 22
_DOT_PX = 3.5
_SHARES = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class RobustnessLine:
    """What was measured of one alteration of a test, or of all its alterations together.

    Attributes:
        test: Name of the test.
        words: The test's full strength in words.
        points: (level 0..1, accuracy 0..1), the unaltered images first.
    """

    test: str
    words: str
    points: tuple[tuple[float, float], ...]

    @property
    def lost(self) -> float:
        """Accuracy lost at the full strength, -1..1."""
        return self.points[0][1] - self.points[-1][1]


def lines_of(result: Robustness) -> list[RobustnessLine]:
    """The lines in the order in which they were measured."""
    found: dict[tuple[str, ...], list[AlteredAccuracy]] = {}
    for case in result.measured:
        found.setdefault((case.test, *case.strengths), []).append(case)
    return [
        RobustnessLine(
            test=cases[-1].test,
            words=strength_words(cases[-1].strengths),
            points=((0.0, result.accuracy), *((each.level, each.accuracy) for each in cases)),
        )
        for cases in found.values()
    ]


class RobustnessPlot(PaintedWidget):
    """The lines, from unaltered at the left to the full strength at the right."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, QSize(360, _HEIGHT_PX), least_px=240)
        self.setAccessibleName("Accuracy over the strength of alterations")
        self._lines: list[RobustnessLine] = []
        self.chosen = -1

    def set_lines(self, lines: Sequence[RobustnessLine], chosen: int) -> None:
        """Shows lines; the chosen one, by its number, stands out."""
        self._lines, self.chosen = list(lines), chosen
        self.setAccessibleDescription(
            "; ".join(
                f"{line.words}: {', '.join(share(accuracy) for _, accuracy in line.points)}"
                for line in lines
            )
        )
        self.update()

    def paint(self, painter: QPainter) -> None:
        painter.setFont(self._theme.font(11, tabular=True))
        area = QRectF(self.rect()).adjusted(_LEFT_PX, _TOP_PX, -_RIGHT_PX, -_BOTTOM_PX)
        self._paint_axes(painter, area)
        order = sorted(range(len(self._lines)), key=lambda at: at == self.chosen)
        for at in order:
            self._paint_line(painter, area, self._lines[at], is_chosen=at == self.chosen)
        if 0 <= self.chosen < len(self._lines):
            self._paint_name(painter, area, self._lines[self.chosen])

    def _paint_axes(self, painter: QPainter, area: QRectF) -> None:
        colors = self._theme.colors
        for value in _SHARES:
            left, right = _at(area, 0, value), _at(area, 1, value)
            painter.setPen(QPen(QColor(colors.line), 1))
            painter.drawLine(left, right)
            painter.setPen(QColor(colors.dim))
            place = QRectF(0, left.y() - 8, _LEFT_PX - 6, 16)
            right_middle = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(place, right_middle, share(value, 0))
        for level, words, side in (
            (0.0, "unaltered", Qt.AlignmentFlag.AlignLeft),
            (0.5, "half strength", Qt.AlignmentFlag.AlignHCenter),
            (1.0, "full strength", Qt.AlignmentFlag.AlignRight),
        ):
            x = _at(area, level, 0).x()
            start = {0.0: x, 0.5: x - 60, 1.0: x - 120}[level]
            painter.drawText(QRectF(start, area.bottom() + 4, 120, 16), side, words)

    def _paint_name(self, painter: QPainter, area: QRectF, line: RobustnessLine) -> None:
        painter.setFont(self._theme.font(12, weight=600))
        painter.setPen(QColor(self._theme.colors.accent))
        words = f"{line.test}: {line.words}" if line.test != line.words else line.words
        mode = Qt.TextElideMode.ElideMiddle
        words = painter.fontMetrics().elidedText(words, mode, int(area.width()))
        painter.drawText(
            QRectF(area.left(), 0, area.width(), 18), Qt.AlignmentFlag.AlignLeft, words
        )

    def _paint_line(
        self, painter: QPainter, area: QRectF, line: RobustnessLine, *, is_chosen: bool
    ) -> None:
        colors = self._theme.colors
        color = QColor(colors.accent if is_chosen else colors.faint)
        painter.setPen(QPen(color, 2.5 if is_chosen else 1.2))
        points = [_at(area, level, accuracy) for level, accuracy in line.points]
        for start, end in pairwise(points):
            painter.drawLine(start, end)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        for point in points if is_chosen else ():
            painter.drawEllipse(point, _DOT_PX, _DOT_PX)


def _at(area: QRectF, level: float, accuracy: float) -> QPointF:
    return QPointF(area.left() + level * area.width(), area.bottom() - accuracy * area.height())
