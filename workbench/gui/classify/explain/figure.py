"""The picture with its heat map over it, and beside it the map of random weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QImage,
    QLinearGradient,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.classify.explain.maps import LEVELS
from workbench.gui.kit.theme import Theme
from workbench.pictures.heat import OPACITY, heat_colors

_LEAST_PX, _HINT_PX = 150, 300
_WORDS_PX, _GAP_PX, _RADIUS_PX = 20, 10, 8
_BAR_PX = 8
_STOPS = 9


@dataclass(frozen=True)
class Layer:
    """A map over the picture, and words below it; "" leaves no room for them."""

    heat: QImage
    words: str = ""


class MapFigure(QWidget):
    """Draws the picture once for each map, as large as fits, with a legend of the colors."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._picture = QImage()
        self._layers: tuple[Layer, ...] = ()
        self._opacity = OPACITY
        self.setMinimumSize(QSize(_LEAST_PX, _LEAST_PX))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The maps that are shown."""
        return self._layers

    @property
    def opacity(self) -> float:
        """Opacity of the maps over the picture, 0..1."""
        return self._opacity

    def sizeHint(self) -> QSize:
        return QSize(_HINT_PX, _HINT_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        """Takes no more height than the pictures need below each other; that follows from its width
        alone, so that no layout goes round in circles.
        """
        if self._picture.isNull():
            return
        count = max(1, len(self._layers))
        picture = self.width() * self._picture.height() / self._picture.width()
        each = picture + (_WORDS_PX if count > 1 else 0)
        height = count * each + (count - 1) * _GAP_PX + _WORDS_PX + _GAP_PX
        self.setMaximumHeight(max(_LEAST_PX, round(height)))

    def set_picture(self, picture: QImage) -> None:
        """Shows a picture without a map; null shows nothing."""
        self._picture = picture
        self.set_layers((), "")

    def set_layers(self, layers: tuple[Layer, ...], words: str) -> None:
        """Lays maps over the picture; the words describe them for those who cannot see them."""
        self._layers = layers
        self.setAccessibleName(words or "The picture")
        self._fit_height()
        self.update()

    def set_opacity(self, opacity: float) -> None:
        """Sets how much the maps cover the picture, 0..1."""
        self._opacity = opacity
        self.update()

    def places(self) -> list[QRectF]:
        """Rectangles of the pictures, in pixels: beside or below each other, whichever makes them
        larger.
        """
        if self._picture.isNull():
            return []
        count = max(1, len(self._layers))
        rows = [_divided(self._room(), count, is_row=is_row) for is_row in (True, False)]
        sizes = [[self._fitted(place) for place in places] for places in rows]
        return max(sizes, key=lambda places: places[0].width())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setFont(self._theme.font(12))
        layers = self._layers or (Layer(QImage()),)
        for place, layer in zip(self.places(), layers, strict=False):
            self._paint(painter, place, layer)
        if self._layers and not self._picture.isNull():
            self._paint_legend(painter)
        painter.end()

    def _room(self) -> QRectF:
        return QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5 - _WORDS_PX - _GAP_PX)

    def _fitted(self, place: QRectF) -> QRectF:
        words = _WORDS_PX if any(layer.words for layer in self._layers) else 0
        room = place.adjusted(0, 0, 0, -words)
        size = self._picture.size().toSizeF()
        scale = max(0.0, min(room.width() / size.width(), room.height() / size.height()))
        result = QRectF(0, 0, size.width() * scale, size.height() * scale)
        result.moveCenter(QPointF(room.center()))
        return result

    def _paint(self, painter: QPainter, place: QRectF, layer: Layer) -> None:
        colors = self._theme.colors
        outline = QPainterPath()
        outline.addRoundedRect(place, _RADIUS_PX, _RADIUS_PX)
        painter.save()
        painter.setClipPath(outline)
        painter.drawImage(place, self._picture)
        if not layer.heat.isNull():
            painter.setOpacity(self._opacity)
            painter.drawImage(place, layer.heat)
        painter.restore()
        painter.setPen(QPen(QColor(colors.line), 1))
        painter.drawPath(outline)
        if layer.words:
            painter.setPen(QColor(colors.dim))
            below = QRectF(place.left() - _GAP_PX, place.bottom(), place.width() + 2 * _GAP_PX, 0)
            below.setHeight(_WORDS_PX)
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, layer.words)

    def _paint_legend(self, painter: QPainter) -> None:
        """Paints a bar of the colors between “less” and “more evidence”."""
        line = QRectF(0, self.height() - _WORDS_PX, self.width(), _WORDS_PX)
        words = ("less", "more evidence")
        left, right = (painter.fontMetrics().horizontalAdvance(each) + _GAP_PX for each in words)
        painter.setPen(QColor(self._theme.colors.dim))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(line, middle | Qt.AlignmentFlag.AlignLeft, words[0])
        painter.drawText(line, middle | Qt.AlignmentFlag.AlignRight, words[1])
        bar = QRectF(left, 0, max(0.0, line.width() - left - right), _BAR_PX)
        bar.moveTop(line.center().y() - _BAR_PX / 2)
        gradient = QLinearGradient(bar.topLeft(), bar.topRight())
        levels = np.linspace(1, LEVELS - 1, _STOPS).astype(np.uint8)
        for at, color in zip(np.linspace(0, 1, _STOPS), heat_colors(levels).tolist(), strict=True):
            gradient.setColorAt(float(at), QColor(*color))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(gradient)
        painter.drawRoundedRect(bar, _BAR_PX / 2, _BAR_PX / 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)


def _divided(room: QRectF, count: int, *, is_row: bool) -> list[QRectF]:
    """Equal parts of a room, beside or below each other."""
    whole = room.width() if is_row else room.height()
    part = (whole - (count - 1) * _GAP_PX) / count
    starts = [number * (part + _GAP_PX) for number in range(count)]
    if is_row:
        return [QRectF(room.left() + at, room.top(), part, room.height()) for at in starts]
    return [QRectF(room.left(), room.top() + at, room.width(), part) for at in starts]
