"""One channel enlarged, with the scale of its colors and a histogram of its values."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy

from workbench.core.format import number_text
from workbench.gui.classify.feature_maps.tile_grid import fitted
from workbench.gui.classify.feature_maps.tiles import ShownLayer
from workbench.gui.classify.feature_maps.words import name_of, tip_of
from workbench.gui.kit.painted import PaintedWidget
from workbench.gui.kit.theme import Theme
from workbench.pictures.heat import heat_colors, weight_colors

_HINT, _LEAST_PX = QSize(270, 330), 80
_LINE_PX, _GAP_PX, _BAR_PX, _HISTOGRAM_PX = 16, 6, 8, 40
_STOPS = 9


class ChannelFigure(PaintedWidget):
    """Draws one channel as large as fits, without smoothing: each value is a square."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, _HINT, _LEAST_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._shown: ShownLayer | None = None
        self._position = 0
        self._is_common = False

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST_PX, _LEAST_PX + self._below())

    def set_channel(self, shown: ShownLayer, position: int, *, is_common: bool) -> None:
        """Shows the channel at a position of the answer."""
        self._shown, self._position, self._is_common = shown, position, is_common
        channel = shown.answer.channels[position]
        self.setAccessibleName(name_of(shown.answer, channel))
        self.setAccessibleDescription(tip_of(shown.answer, channel))
        self.update()

    def paint(self, painter: QPainter) -> None:
        if self._shown is None:
            return
        source = self._shown.place(self._position)
        room = self.rect().adjusted(0, 0, 0, -self._below())
        image = self._shown.image(is_common=self._is_common)
        painter.drawImage(fitted(source.size(), room), image, source)
        painter.setFont(self._theme.font(12, tabular=True))
        if not self._shown.answer.is_color:
            self._paint_scale(painter, room.bottom() + _GAP_PX)
        if self._shown.answer.channels[self._position].histogram:
            self._paint_histogram(painter)

    def _below(self) -> int:
        return 3 * _GAP_PX + _BAR_PX + 2 * _LINE_PX + _HISTOGRAM_PX

    def _paint_scale(self, painter: QPainter, top: int) -> None:
        """Paints a bar of the colors, with the values at its ends."""
        assert self._shown is not None  # noqa: S101 - for the type
        answer = self._shown.answer
        channel = answer.channels[self._position]
        ends = self._shown.common_range() if self._is_common else (channel.low, channel.high)
        bar = QRectF(0, top, self.width(), _BAR_PX)
        colors = weight_colors if answer.what == "filters" else heat_colors
        levels = np.linspace(1, 255, _STOPS).astype(np.uint8)
        gradient = QLinearGradient(bar.topLeft(), bar.topRight())
        for at, color in zip(np.linspace(0, 1, _STOPS), colors(levels).tolist(), strict=True):
            gradient.setColorAt(float(at), QColor(*color))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(gradient)
        painter.drawRoundedRect(bar, _BAR_PX / 2, _BAR_PX / 2)
        self._paint_ends(painter, top + _BAR_PX, *ends)

    def _paint_ends(self, painter: QPainter, top: int, low: float, high: float) -> None:
        line = QRect(0, top, self.width(), _LINE_PX)
        painter.setPen(QColor(self._theme.colors.dim))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, number_text(low))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, number_text(high))

    def _paint_histogram(self, painter: QPainter) -> None:
        """Paints a bar for each part of the range of values, the fullest at full height."""
        assert self._shown is not None  # noqa: S101 - for the type
        channel = self._shown.answer.channels[self._position]
        counts = channel.histogram
        bottom = float(self.height() - _LINE_PX)
        width, most = self.width() / len(counts), max(counts)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.colors.accent))
        for at, number in enumerate(counts):
            height = _HISTOGRAM_PX * number / most
            if number:  # a single value can be seen, too
                height = max(1.0, height)
                painter.drawRect(QRectF(at * width + 0.5, bottom - height, width - 1, height))
        painter.setPen(QPen(QColor(self._theme.colors.line), 1))
        painter.drawLine(QPointF(0, bottom), QPointF(self.width(), bottom))
        self._paint_ends(painter, round(bottom), channel.least, channel.largest)
