"""Channels of a layer as tiles, and one enlarged, with words and a figure of its values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QImage,
    QImageReader,
    QKeyEvent,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from workbench.core.format import count, duration, number_text, shape_text, share
from workbench.errors import PictureError
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import PaintedWidget
from workbench.pictures.heat import heat_colors, weight_colors
from workbench.protocol.trained.feature_maps import Channel, LayerShown, Order, What
from workbench.runs.log.texts import weights_words

# tiles ---------------------------------------------------------------------------------------
# The tiles of a layer as they are shown: read and colored.

Levels = np.ndarray[Any, np.dtype[np.uint8]]

_LEVELS = 256


@dataclass(frozen=True)
class ShownLayer:
    """A layer and its tiles in memory.

    Attributes:
        answer: The worker's answer.
        own, common: All tiles in one image, each colored by its own range of values, and all by
            the same.
    """

    answer: LayerShown
    own: QImage
    common: QImage

    def place(self, position: int) -> QRect:
        """Rectangle of a channel's tile in the images, by its position in the answer."""
        height, width = self.answer.tile
        row, column = divmod(position, self.answer.columns)
        return QRect(column * width, row * height, width, height)

    def image(self, *, is_common: bool) -> QImage:
        """The tiles in either coloring."""
        return self.common if is_common else self.own

    @property
    def has_ranges(self) -> bool:
        """Whether each tile has a range of its own: single values and colors have none."""
        return not self.answer.is_color and max(self.answer.tile, default=0) > 1

    def common_range(self) -> tuple[float, float]:
        """The values of the first and the last color where all tiles have the same."""
        channels = self.answer.channels
        return min(each.low for each in channels), max(each.high for each in channels)


def load_tiles(answer: LayerShown) -> ShownLayer:
    """Reads and colors the tiles of an answer.

    Raises:
        PictureError: the file is not there any more.
    """
    if not answer.channels:
        return ShownLayer(answer, QImage(), QImage())
    image = QImageReader(answer.tiles_png).read()
    if image.isNull():
        what = "The tiles could not be read."
        raise PictureError(what, where=Path(answer.tiles_png).name, fix="Request them again.")
    if answer.is_color:
        return ShownLayer(answer, image, image)
    levels = _array(image.convertToFormat(QImage.Format.Format_Grayscale8))
    colors = weight_colors if answer.what == "filters" else _map_colors
    own, common = (_image(colors(each)) for each in (levels, _in_common(answer, levels)))
    return ShownLayer(answer, own, common)


def _map_colors(levels: Levels) -> Levels:
    return heat_colors(np.maximum(levels, 1))


def _in_common(answer: LayerShown, levels: Levels) -> Levels:
    """The levels of all tiles by the same range of values."""
    first = min(each.low for each in answer.channels)
    span = max(each.high for each in answer.channels) - first
    height, width = answer.tile
    result = np.zeros_like(levels)
    steps = np.arange(_LEVELS) / (_LEVELS - 1)
    for position, channel in enumerate(answer.channels):
        values = channel.low + steps * (channel.high - channel.low)
        table = ((values - first) / (span or 1) * (_LEVELS - 1)).round().astype(np.uint8)
        row, column = divmod(position, answer.columns)
        place = np.s_[row * height : (row + 1) * height, column * width : (column + 1) * width]
        result[place] = table[levels[place]]
    return result


def _array(image: QImage) -> Levels:
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    return rows[:, : image.width()].copy()


def _image(colors: Levels) -> QImage:
    """A picture of colors uint8 (height, width, 4)."""
    height, width = colors.shape[:2]
    data = np.ascontiguousarray(colors).tobytes()
    return QImage(data, width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()


# words ---------------------------------------------------------------------------------------
# What is shown of a layer, in words. Qt-free.

WHATS: tuple[tuple[What, str, str], ...] = (
    ("maps", "Maps", "What the layer gives for the picture, a tile for each channel"),
    ("filters", "Filters", "The weights of the layer's kernel, a tile for each filter"),
)
"""Key, title and tooltip of what can be shown."""

ORDERS: tuple[tuple[Order, str, str], ...] = (
    ("strength", "Strongest", "The strongest first, by the mean of the absolute values"),
    ("index", "By index", "In the order that the layer has them"),
)


def name_of(shown: LayerShown, channel: Channel) -> str:
    """Title of a tile: "Channel 12" or "Filter 12", from 0 as in Keras."""
    return f"{'Filter' if shown.what == 'filters' else 'Channel'} {channel.index}"


def facts_of(channel: Channel) -> tuple[tuple[str, str], ...]:
    """Name and value of what is known of a channel's values."""
    return (
        ("Min", number_text(channel.least)),
        ("Max", number_text(channel.largest)),
        ("Mean", number_text(channel.mean)),
        ("Zeros", share(channel.zeros)),
    )


def tip_of(shown: LayerShown, channel: Channel) -> str:
    """All of it on a few lines."""
    facts = "\n".join(f"{name}: {value}" for name, value in facts_of(channel))
    return f"{name_of(shown, channel)}\n{facts}"


def about(shown: LayerShown, *, has_picture: bool, is_training: bool) -> str:
    """What is shown: layer, shape, how many, and of which weights; and what is missing."""
    shape = "kernel" if shown.what == "filters" else "output"
    parts = [f"{shown.layer}: {shape} {shape_text(shown.shape)}"]
    if 0 < len(shown.channels) < shown.total:
        parts.append(f"{count(len(shown.channels))} of {count(shown.total)} shown")
    if silent := sum(not channel.strength for channel in shown.channels):
        parts.append(f"{count(silent)} all 0")
    if words := weights_words(shown.weights):
        parts.append(f"weights of the {words}")
    if is_training:
        parts.append("newer ones follow while it trains")
    if shown.channels:
        parts.append(duration(shown.milliseconds / 1000))
    missing = "" if has_picture else " Drop a picture to see what the layer gives for it."
    return f"{', '.join(parts)}.{missing}"


# tile grid -----------------------------------------------------------------------------------
# The channels of a layer as a grid of tiles, by mouse and keyboard.

_TILE_PX, _SMALL_PX, _GAP_PX = 50, 24, 4
"""Least sides of tiles, and the gap between them; tiles share the width of a row."""
_LEAST_COLUMNS = 4
_KEYS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class TileGrid(QWidget):
    """A grid of tiles with as many columns as fit. Only what is visible is drawn.

    Signals:
        chosen(int): The tile at a position was clicked, or Enter was pressed on it.
        moved(QRect): The keyboard is at another tile, which is there.
    """

    chosen = Signal(int)
    moved = Signal(QRect)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: ShownLayer | None = None
        self._image = QImage()
        self._at = 0
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Channels")
        theme.changed.connect(self.update)

    @property
    def count(self) -> int:
        """Number of tiles that are shown."""
        return len(self._shown.answer.channels) if self._shown is not None else 0

    @property
    def position(self) -> int:
        """Index of the tile at the keyboard cursor, from 0."""
        return self._at

    def set_layer(self, shown: ShownLayer | None, *, is_common: bool = False) -> None:
        """Shows the tiles of a layer; None shows nothing."""
        self._shown = shown
        self._image = shown.image(is_common=is_common) if shown is not None else QImage()
        self._at = min(self._at, max(0, self.count - 1))
        self._describe()
        self.updateGeometry()
        self.update()

    def square(self) -> TileGrid:
        """The same tiles with as many in a row as rows, to be written into a file: of a thousand
        channels, rows as short as in the window would be a strip longer than an image can be.
        """
        result = TileGrid(self._theme)
        result.set_layer(self._shown)
        result._image = self._image
        columns = max(_LEAST_COLUMNS, math.ceil(math.sqrt(self.count)))
        width = columns * (result._least_side() + _GAP_PX) - _GAP_PX
        result.resize(width, result.heightForWidth(width))
        return result

    def move_to(self, position: int) -> None:
        """Takes the keyboard to a tile."""
        self._at = min(max(0, position), max(0, self.count - 1))
        self._describe()
        self.moved.emit(self.cell(self._at))
        self.update()

    def sizeHint(self) -> QSize:
        width = 4 * (_TILE_PX + _GAP_PX) - _GAP_PX
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(_TILE_PX, _TILE_PX)

    def heightForWidth(self, width: int) -> int:
        rows = -(-self.count // self._columns(width))
        return max(1, rows) * (self._side(width) + _GAP_PX) - _GAP_PX

    def cell(self, position: int) -> QRect:
        """Square that a tile is drawn in, in pixels."""
        side = self._side(self.width())
        row, column = divmod(position, self._columns(self.width()))
        return QRect(column * (side + _GAP_PX), row * (side + _GAP_PX), side, side)

    def tile_at(self, place: QPoint) -> int | None:
        """The position of the tile at a place of the widget; None between them."""
        step = self._side(self.width()) + _GAP_PX
        column, row = place.x() // step, place.y() // step
        position = row * self._columns(self.width()) + column
        is_tile = column < self._columns(self.width()) and 0 <= position < self.count
        return position if is_tile and self.cell(position).contains(place) else None

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._shown is None:
            return
        painter = QPainter(self)
        step = self._side(self.width()) + _GAP_PX
        columns = self._columns(self.width())
        first = event.rect().top() // step * columns
        last = min(self.count, (event.rect().bottom() // step + 1) * columns)
        for position in range(first, last):
            source = self._shown.place(position)
            painter.drawImage(fitted(source.size(), self.cell(position)), self._image, source)
        if self.hasFocus() and self.count:
            painter.setPen(QPen(QColor(self._theme.colors.accent), 2))
            painter.drawRect(self.cell(self._at).adjusted(1, 1, -1, -1))
        painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        position = self.tile_at(event.position().toPoint())
        if position is not None and event.button() == Qt.MouseButton.LeftButton:
            self.move_to(position)
            self.chosen.emit(position)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.count:
            self.chosen.emit(self._at)
            return
        step = _KEYS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        target = self._at + step[0] + step[1] * self._columns(self.width())
        if 0 <= target < self.count:
            self.move_to(target)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            position = self.tile_at(event.pos())
            if position is None or self._shown is None:
                QToolTip.hideText()
            else:
                answer = self._shown.answer
                words = tip_of(answer, answer.channels[position])
                QToolTip.showText(event.globalPos(), plain_tip(words), self, self.cell(position))
            return True
        return super().event(event)

    def _describe(self) -> None:
        if self._shown is None or not self.count:
            self.setAccessibleDescription("")
            return
        answer = self._shown.answer
        self.setAccessibleDescription(name_of(answer, answer.channels[self._at]))

    def _least_side(self) -> int:
        """Smallest side of a tile's square, in pixels; smaller where tiles are single values."""
        is_single = self._shown is not None and max(self._shown.answer.tile, default=0) == 1
        return _SMALL_PX if is_single else _TILE_PX

    def _side(self, width: int) -> int:
        """Side of a tile's square, in pixels, where the tiles of a row share `width` pixels."""
        return max(1, (width + _GAP_PX) // self._columns(width) - _GAP_PX)

    def _columns(self, width: int) -> int:
        return max(1, (width + _GAP_PX) // (self._least_side() + _GAP_PX))


def fitted(size: QSize, room: QRect) -> QRect:
    """A rectangle of a size's proportions, as large as fits and in the middle of the room."""
    scaled = size.scaled(room.size(), Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))
    result = QRect(QPoint(0, 0), scaled)
    result.moveCenter(room.center())
    return result


# channel figure ------------------------------------------------------------------------------
# One channel enlarged, with the scale of its colors and a histogram of its values.

_HINT, _LEAST_PX = QSize(270, 330), 80
_LINE_PX, _GAP_PX_CHANNEL_FIGURE, _BAR_PX, _HISTOGRAM_PX = 16, 6, 8, 40
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
            self._paint_scale(painter, room.bottom() + _GAP_PX_CHANNEL_FIGURE)
        if self._shown.answer.channels[self._position].histogram:
            self._paint_histogram(painter)

    def _below(self) -> int:
        return 3 * _GAP_PX_CHANNEL_FIGURE + _BAR_PX + 2 * _LINE_PX + _HISTOGRAM_PX

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


# channel page --------------------------------------------------------------------------------
# A channel alone: enlarged, with what is known of its values, and the way to its neighbors.


class ChannelPage(QWidget):
    """One of the channels of a layer. Left and right lead to the others, Escape back.

    Signals:
        closed(): All channels are wanted again.
        moved(int): The channel at another position is wanted.
    """

    closed = Signal()
    moved = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.position = 0
        self._count = 0
        self.back = button("All channels")
        self.name = plain_label(role="strong")
        self.figure = ChannelFigure(theme)
        self.facts = plain_label(role="dim", wrap=True)
        self.back.clicked.connect(self.closed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        head = row(self.name, STRETCH, self.back, spacing=8)
        column(head, (self.figure, 1), self.facts, parent=self, spacing=8)

    def show_channel(self, shown: ShownLayer, position: int, *, is_common: bool) -> None:
        """Shows the channel at a position of the answer."""
        answer = shown.answer
        self._count = len(answer.channels)
        self.position = min(max(0, position), self._count - 1)
        channel = answer.channels[self.position]
        self.name.setText(name_of(answer, channel))
        self.back.setText("All filters" if answer.what == "filters" else "All channels")
        self.facts.setText(", ".join(f"{name} {value}" for name, value in facts_of(channel)))
        self.figure.set_channel(shown, self.position, is_common=is_common)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        elif step and 0 <= self.position + step < self._count:
            self.moved.emit(self.position + step)
        elif not step:
            super().keyPressEvent(event)
