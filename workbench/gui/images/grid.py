"""A grid of images of which only the visible ones are laid out and drawn.

Not a QListView: that keeps an item for each image and lays all of them out again at each change
of its width, which takes a second for 100,000 images.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QWidget

from workbench.gui.images.rows import GridRows, Index
from workbench.gui.images.thumbnails import ImageThumbnails
from workbench.gui.kit.theme import Theme

CELL_PX = 120
_PICTURE_PX, _LINE_PX, _PAD_PX = 96, 20, 8
_BADGE_PX, _BADGE_GAP_PX = 18, 2
_SELECTED_ALPHA = 60


class ImageGrid(QAbstractItemView):
    """Cells of one size, in as many columns as there is room for.

    Signals:
        enlarged(int): The image of this row is to be shown large: it was double-clicked or entered.
    """

    enlarged = Signal(int)

    def __init__(
        self, theme: Theme, rows: GridRows, thumbnails: ImageThumbnails, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme, self._rows, self._thumbnails = theme, rows, thumbnails
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName("Images")
        self.setModel(rows)
        thumbnails.arrived.connect(self.viewport().update)
        theme.changed.connect(self.viewport().update)
        self.doubleClicked.connect(lambda index: self.enlarged.emit(index.row()))
        for keys in ("Return", "Enter"):
            self.on_key(keys, self._enlarge_current)

    def on_key(self, keys: str, act: Callable[[], None]) -> None:
        """Acts on a key sequence, in Qt's notation, while the grid has the focus."""
        shortcut = QShortcut(QKeySequence(keys), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(act)

    def _enlarge_current(self) -> None:
        if self.currentIndex().isValid():
            self.enlarged.emit(self.currentIndex().row())

    def selected_rows(self) -> list[int]:
        """Rows of the selected images."""
        return sorted(index.row() for index in self.selectionModel().selectedIndexes())

    # places --------------------------------------------------------------------------------

    @property
    def columns(self) -> int:
        """Cells in a line."""
        return max(1, self.viewport().width() // CELL_PX)

    @property
    def _height(self) -> int:
        return _PICTURE_PX + _LINE_PX * self._rows.num_lines + _PAD_PX

    def _place(self, row: int) -> QRect:
        """Rectangle of a cell in the viewport, in pixels."""
        line, column = divmod(row, self.columns)
        width = self.viewport().width() // self.columns
        top = line * self._height - self.verticalScrollBar().value()
        return QRect(column * width, top, width, self._height)

    def visible_rows(self) -> range:
        """The rows that can be seen, at least in part."""
        top = self.verticalScrollBar().value()
        first = top // self._height * self.columns
        last = (top + self.viewport().height()) // self._height * self.columns + self.columns
        return range(first, min(last, self._rows.rowCount()))

    def visualRect(self, index: Index) -> QRect:
        return self._place(index.row()) if index.isValid() else QRect()

    def indexAt(self, point: QPoint) -> QModelIndex:
        width = self.viewport().width() // self.columns
        column = point.x() // max(1, width)
        row = (point.y() + self.verticalScrollBar().value()) // self._height * self.columns + column
        inside = 0 <= column < self.columns and 0 <= row < self._rows.rowCount()
        return self._rows.index(row, 0) if inside else QModelIndex()

    def scrollTo(
        self,
        index: Index,
        _hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        place, bar = self.visualRect(index), self.verticalScrollBar()
        if place.top() < 0:
            bar.setValue(bar.value() + place.top())
        elif place.bottom() > self.viewport().height():
            bar.setValue(bar.value() + place.bottom() - self.viewport().height())

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    def isIndexHidden(self, _index: Index) -> bool:
        return False

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, _modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        cursor, last = QAbstractItemView.CursorAction, self._rows.rowCount() - 1
        page = max(1, self.viewport().height() // self._height) * self.columns
        steps = {
            cursor.MoveLeft: -1,
            cursor.MovePrevious: -1,
            cursor.MoveRight: 1,
            cursor.MoveNext: 1,
            cursor.MoveUp: -self.columns,
            cursor.MoveDown: self.columns,
            cursor.MovePageUp: -page,
            cursor.MovePageDown: page,
            cursor.MoveHome: -last - 1,
            cursor.MoveEnd: last + 1,
        }
        now = max(0, self.currentIndex().row())
        return self._rows.index(min(max(now + steps.get(action, 0), 0), last), 0)

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Selects the cells that a rectangle of the viewport touches."""
        found = QItemSelection()
        width, shift = self.viewport().width() // self.columns, self.verticalScrollBar().value()
        last = self._rows.rowCount() - 1
        left = min(max(rect.left() // width, 0), self.columns - 1)
        right = min(rect.right() // width, self.columns - 1)
        is_on_cells = rect.left() < width * self.columns and right >= left
        first_line = max(0, (rect.top() + shift) // self._height)
        last_line = min((rect.bottom() + shift) // self._height, last // self.columns)
        for line in range(first_line, last_line + 1 if is_on_cells else 0):
            start, stop = line * self.columns + left, min(line * self.columns + right, last)
            if start <= stop:
                found.select(self._rows.index(start, 0), self._rows.index(stop, 0))
        self.selectionModel().select(found, command)

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        """All that can be seen: cells are redrawn, which is cheap."""
        return QRegion() if selection.isEmpty() else QRegion(self.viewport().rect())

    # drawing -------------------------------------------------------------------------------

    def updateGeometries(self) -> None:
        """The range of the scroll bar."""
        super().updateGeometries()
        lines = -(-self._rows.rowCount() // self.columns)
        bar, page = self.verticalScrollBar(), self.viewport().height()
        bar.setPageStep(page)
        bar.setSingleStep(self._height // 2)
        bar.setRange(0, max(0, lines * self._height - page))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The first visible image stays in sight."""
        before = max(1, event.oldSize().width() // CELL_PX)
        first = self.verticalScrollBar().value() // self._height * before
        super().resizeEvent(event)
        self.updateGeometries()
        if before != self.columns:
            self.verticalScrollBar().setValue(first // self.columns * self._height)

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        self.viewport().update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.fillRect(self.viewport().rect(), QColor(self._theme.colors.field))
        painter.setFont(self._theme.font(11))
        for row in self.visible_rows():
            self._draw(painter, row)
        painter.end()

    def _draw(self, painter: QPainter, row: int) -> None:
        colors, index = self._theme.colors, self._rows.index(row, 0)
        place = self._place(row).adjusted(2, 2, -2, -2)
        if self.selectionModel().isSelected(index):
            fill = QColor(colors.accent)
            fill.setAlpha(_SELECTED_ALPHA)
            painter.fillRect(place, fill)
        if index == self.currentIndex() and self.hasFocus():
            painter.setPen(QPen(QColor(colors.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(place)
        self._draw_picture(painter, row, place)
        self._draw_badges(painter, row, place)
        lines = self._rows.lines(row)
        below = place.top() + 4 + _PICTURE_PX + 2
        for number, line in enumerate(lines):
            is_first = number == 0 and len(lines) > 1
            painter.setPen(QColor(colors.text if is_first else colors.dim))
            room = QRect(place.left() + 4, below + number * _LINE_PX, place.width() - 8, _LINE_PX)
            metrics = painter.fontMetrics()
            shown = metrics.elidedText(line, Qt.TextElideMode.ElideMiddle, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, shown)

    def _draw_badges(self, painter: QPainter, row: int, cell: QRect) -> None:
        """In the upper right corner, on a ground of their own: seen on every image."""
        left = cell.right() - 4
        for badge in reversed(self._rows.badges(row)):
            left -= _BADGE_PX + _BADGE_GAP_PX
            place = QRect(left, cell.top() + 4, _BADGE_PX, _BADGE_PX)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.colors.panel))
            painter.drawRoundedRect(place, 4, 4)
            color = str(getattr(self._theme.colors, badge.color))
            self._theme.icon(badge.icon, color).paint(painter, place.adjusted(2, 2, -2, -2))

    def _draw_picture(self, painter: QPainter, row: int, cell: QRect) -> None:
        field = QRectF(0, 0, _PICTURE_PX, _PICTURE_PX)
        field.moveCenter(QRectF(cell).center())
        field.moveTop(cell.top() + 4)
        picture = self._thumbnails.pixmap(self._rows.place(row), self._rows.file(row))
        if picture is None or picture.isNull():
            inner = field.adjusted(20, 20, -20, -20)
            painter.fillRect(inner, QColor(self._theme.colors.line))
            if picture is not None:
                painter.setPen(QColor(self._theme.colors.dim))
                painter.drawText(inner, Qt.AlignmentFlag.AlignCenter, "unreadable")
            return
        scale = _PICTURE_PX / max(picture.width(), picture.height())
        target = QRectF(0, 0, picture.width() * scale, picture.height() * scale)
        target.moveCenter(field.center())
        painter.drawPixmap(target, picture, QRectF(picture.rect()))
