"""The channels of a layer as a grid of tiles, by mouse and keyboard."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from workbench.gui.classify.feature_maps.tiles import ShownLayer
from workbench.gui.classify.feature_maps.words import name_of, tip_of
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme

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
