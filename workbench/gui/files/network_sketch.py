"""A small drawing of a network: a bar for each layer, as tall as its image is large and
as wide as it has channels. Drawn from the real shapes, so that no two look alike by chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.core.specs import Shape
from workbench.gui.kit.theme import Theme

_HEIGHT_PX = 84
_PAD_PX = 18
_GAP_PX = 6
_FLAT_PX = 10


class NetworkSketch(QWidget):
    """The band at the top of a card."""

    def __init__(self, theme: Theme, color: str, shapes: Sequence[Shape] = ()) -> None:
        super().__init__()
        self._theme = theme
        self._color = QColor(color)
        self._bars = bar_sizes(shapes)
        self.setFixedHeight(_HEIGHT_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(240, _HEIGHT_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        if self._bars:
            self._paint_bars(painter)
        else:
            self._paint_empty(painter)

    def _paint_ground(self, painter: QPainter) -> None:
        strong, weak = QColor(self._color), QColor(self._color)
        strong.setAlpha(64 if self._theme.is_dark else 52)
        weak.setAlpha(20 if self._theme.is_dark else 18)
        gradient = QLinearGradient(0, 0, self.width(), self.height())
        gradient.setColorAt(0, strong)
        gradient.setColorAt(1, weak)
        path = QPainterPath()
        path.addRoundedRect(QRectF(0, 0, self.width(), self.height() + 10), 9, 9)
        painter.setClipRect(self.rect())
        painter.fillPath(path, gradient)

    def _paint_bars(self, painter: QPainter) -> None:
        room = self.width() - 2 * _PAD_PX
        wanted = sum(width for width, _ in self._bars) + _GAP_PX * (len(self._bars) - 1)
        scale = min(1.0, room / wanted)
        x = float(_PAD_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        for index, (width, height) in enumerate(self._bars):
            color = QColor(self._color)
            color.setAlphaF(1.0 - 0.6 * index / max(len(self._bars) - 1, 1))
            painter.setBrush(color)
            bar = QRectF(x, (self.height() - height) / 2, max(width * scale, 2.0), height)
            painter.drawRoundedRect(bar, 3, 3)
            x += (width + _GAP_PX) * scale

    def _paint_empty(self, painter: QPainter) -> None:
        pen = QPen(self._color, 1.5, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for index in range(3):
            x = _PAD_PX + index * 52
            painter.drawRoundedRect(QRectF(x, self.height() / 2 - 18, 40, 36), 5, 5)


def bar_sizes(shapes: Sequence[Shape]) -> list[tuple[float, float]]:
    """(width, height) in pixels of a bar for each shape; equal neighbors are drawn once.

    Sizes are logarithmic: from 4 to 192 pixels a side, and 1 to 1,000 channels, all stay
    distinguishable.
    """
    bars: list[tuple[float, float]] = []
    previous: Shape | None = None
    for shape in shapes:
        if shape == previous:
            continue
        previous = shape
        if len(shape) >= 3:
            side = max(shape[0], shape[1], 1)
            height = 10 + 46 * min(math.log2(side + 1) / math.log2(193), 1.0) ** 2
            width = 4 + 1.6 * math.log2(max(shape[-1], 1) + 1)
        else:
            height = float(_FLAT_PX)
            width = 10 + 2.2 * math.log2(max(shape[-1] if shape else 1, 1) + 1)
        bars.append((width, height))
    return bars
