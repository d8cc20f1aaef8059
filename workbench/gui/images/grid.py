"""A grid of images of which only the visible ones are laid out and drawn.

Not a QListView: that keeps an item for each image and lays all of them out again at each change
of its width, which takes a second for 100,000 images.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QRegion,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QWidget

from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question, ServiceProcess
from workbench.errors import WorkbenchError
from workbench.gui.images.sample_dialog import ImageSource, Sample
from workbench.gui.kit.theme import Theme
from workbench.protocol.describe_data import ImagePlace, MakeThumbnails, ThumbnailsMade

# rows ----------------------------------------------------------------------------------------
# What a grid of images is asked for: one row for each image, and what is drawn with it.

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class Badge:
    """A mark in a corner of an image.

    Attributes:
        icon: Its name in the theme: the mark is more than a color.
        color: Name of a color of the theme.
    """

    icon: str
    color: str


class GridRows(QAbstractListModel):
    """The images of a grid, in its order. A subclass knows them."""

    num_lines = 1
    """Lines of text below each image."""

    def place(self, row: int) -> ImagePlace:
        """What the image in a row is meant by in requests."""
        raise NotImplementedError

    def file(self, row: int) -> str:
        """The file of the image in a row; "" where it is in none, or the place says enough."""
        raise NotImplementedError

    def lines(self, row: int) -> tuple[str, ...]:
        """The lines below an image; the first one is bright where there are several."""
        raise NotImplementedError

    def sample(self, row: int) -> Sample:
        """The image for the dialog with one large image."""
        raise NotImplementedError

    def badges(self, _row: int) -> tuple[Badge, ...]:
        """The marks of an image, from the left."""
        return ()


# samples -------------------------------------------------------------------------------------
# What the grid shows as a sequence for the dialog with one large image: made when looked at.


class GridSamples(Sequence[Sample]):
    """One sample for each row of a grid."""

    def __init__(self, rows: GridRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows.rowCount()

    @overload
    def __getitem__(self, row: int) -> Sample: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Sample]: ...
    def __getitem__(self, row: int | slice) -> Sample | Sequence[Sample]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        return self._rows.sample(row)


# thumbnails ----------------------------------------------------------------------------------
# Small images of what can be seen: requested when they are first drawn, a bounded number kept.

_KEPT = 1_500
"""Pixmaps in memory: 100 MB at most."""

_WANTED = 300
"""More than a screen shows: what was scrolled past is dropped."""

_DELAY_MS = 40
"""While the grid is scrolled, what has passed is not requested."""


class ImageThumbnails(QObject):
    """A cache by image. Files are read in a thread; the window only draws.

    Args:
        service: Makes them.
        source: Which data set they are of, whenever some are requested; `clear` when it changes.
        parent: Who shows them.

    Signals:
        arrived(): Some more are there.
    """

    arrived = Signal()

    def __init__(
        self, service: ServiceProcess, source: Callable[[], ImageSource], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._source = source
        self._question = Question(service)
        self._background = Background(self, max_threads=1)
        self._known: OrderedDict[ImagePlace, QPixmap] = OrderedDict()
        self._wanted: OrderedDict[ImagePlace, str] = OrderedDict()
        self._asked: set[ImagePlace] = set()
        self._generation = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MS)
        self._timer.timeout.connect(self._fetch)

    def pixmap(self, place: ImagePlace, file: str = "") -> QPixmap | None:
        """The image, null where it cannot be read; None while it is not there. Where its file is
        given, the place is not looked up.
        """
        found = self._known.get(place)
        if found is not None:
            self._known.move_to_end(place)
            return found
        self._wanted[place] = file
        self._wanted.move_to_end(place)
        while len(self._wanted) > _WANTED:
            self._wanted.popitem(last=False)
        if place not in self._asked and not self._timer.isActive():
            self._timer.start()
        return None

    def known_pixmap(self, place: ImagePlace) -> QPixmap | None:
        """The image where it is there; nothing is requested."""
        return self._known.get(place)

    def clear(self) -> None:
        """Forgets all, with other images."""
        self._generation += 1
        self._question.drop()
        self._timer.stop()
        self._known.clear()
        self._wanted.clear()
        self._asked.clear()

    def close(self) -> None:
        """Clears the thumbnails, and ends all reading."""
        self.clear()
        self._background.close()

    def _fetch(self) -> None:
        """Requests what is wanted now, in place of what was requested before."""
        if not self._wanted:
            return
        images, files = list(self._wanted), list(self._wanted.values())
        self._asked = set(images)
        request = MakeThumbnails(
            id=0, **self._source().fields(), images=images, files=files if any(files) else []
        )
        handlers = Handlers(on_done=self._on_done, on_failed=self._on_failed, on_part=self._read)
        self._question.ask(request, handlers)

    def _read(self, made: ThumbnailsMade) -> None:
        generation = self._generation

        def take(images: list[QImage]) -> None:
            if generation == self._generation:
                self._take(made.images, images)

        self._background.run(lambda: [_image(path) for path in made.paths], take)

    def _take(self, places: list[ImagePlace], images: list[QImage]) -> None:
        for place, image in zip(places, images, strict=True):
            self._known[place] = QPixmap.fromImage(image)
            self._wanted.pop(place, None)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        self.arrived.emit()

    def _on_done(self, _answer: object) -> None:
        self._asked.clear()

    def _on_failed(self, _error: WorkbenchError) -> None:
        self._asked.clear()
        self._wanted.clear()


def _image(path: str) -> QImage:
    return QImage(path) if path else QImage()


# grid ----------------------------------------------------------------------------------------

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
