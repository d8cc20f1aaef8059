"""Rows of small pictures with a line below each: earlier answers, test pictures."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex

TILE = QSize(108, 70)
WORDS_PX = 20
GAP_PX = 8
IMAGE_ROLE = int(Qt.ItemDataRole.UserRole)
KEY_ROLE = IMAGE_ROLE + 1
MOOD_ROLE = IMAGE_ROLE + 2
NAME_ROLE = IMAGE_ROLE + 3
MAX_TILES = 200


class _TileDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: PictureStrip) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(TILE.width() + GAP_PX, TILE.height() + WORDS_PX + GAP_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colors = self._theme.colors
        rect = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        tile = QRectF(rect.left() + 1, rect.top() + 1, TILE.width(), TILE.height())
        outline = QPainterPath()
        outline.addRoundedRect(tile, 6, 6)
        painter.fillPath(outline, QColor(colors.hover))
        image = index.data(IMAGE_ROLE)
        if isinstance(image, QImage) and not image.isNull():
            painter.setClipPath(outline)
            painter.drawImage(_fit(image, tile), image)
            painter.setClipping(False)
        marks = QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_HasFocus
        painter.setPen(QColor(colors.accent if option.state & marks else colors.line))
        painter.drawPath(outline)
        self._paint_words(painter, tile, index)
        painter.restore()

    def _paint_words(self, painter: QPainter, tile: QRectF, index: Index) -> None:
        colors = self._theme.colors
        mood = {"good": colors.good, "bad": colors.bad}.get(index.data(MOOD_ROLE), colors.text)
        painter.setPen(QColor(mood))
        painter.setFont(self._theme.font(12))
        place = QRectF(tile.left(), tile.bottom() + 2, tile.width(), WORDS_PX)
        words = painter.fontMetrics().elidedText(
            str(index.data()), Qt.TextElideMode.ElideMiddle, int(place.width())
        )
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, words)


def _fit(image: QImage, tile: QRectF) -> QRectF:
    """Rectangle of an image in the tile: as large as it fits, whole and centered."""
    scale = min(tile.width() / image.width(), tile.height() / image.height())
    place = QRectF(0, 0, image.width() * scale, image.height() * scale)
    place.moveCenter(QPointF(tile.center()))
    return place


def _set_words(item: QStandardItem, key: object, words: str, tip: str, mood: str) -> None:
    item.setText(words)
    item.setData(key, KEY_ROLE)
    item.setData(mood, MOOD_ROLE)
    item.setToolTip(plain_tip(tip or words))


class PictureStrip(QListView):
    """Tiles with a key each. `chosen` when one is clicked, or Enter is pressed on it."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, name: str, *, is_one_row: bool) -> None:
        super().__init__()
        self._theme = theme
        self._hint = ""
        self._model = QStandardItemModel(self)
        self.setModel(self._model)
        self.setItemDelegate(_TileDelegate(theme, self))
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(not is_one_row)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self._is_one_row = is_one_row
        # Rows below each other are all shown: they scroll with the view, not within it.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if not is_one_row:
            self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self._model.rowsInserted.connect(self._fit_rows)
            self._model.modelReset.connect(self._fit_rows)
            self._fit_rows()
        self.setHorizontalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        if is_one_row:
            self.setFixedHeight(TILE.height() + WORDS_PX + GAP_PX + 12)
        for chosen in (self.clicked, self.activated):
            chosen.connect(lambda index: self.chosen.emit(index.data(KEY_ROLE)))
        theme.changed.connect(self.viewport().update)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._is_one_row:
            self._fit_rows()

    def _fit_rows(self, *_change: object) -> None:
        num_columns = max(1, self.viewport().width() // (TILE.width() + GAP_PX))
        num_rows = max(1, -(-self.num_tiles // num_columns))
        self.setFixedHeight(num_rows * (TILE.height() + WORDS_PX + GAP_PX))

    @property
    def num_tiles(self) -> int:
        """How many are shown."""
        return self._model.rowCount()

    def add(
        self,
        key: object,
        image: QImage,
        words: str,
        *,
        tip: str = "",
        mood: str = "",
        at_front: bool = False,
        name: str = "",
    ) -> None:
        """Adds a tile; beyond 200 the oldest goes.

        Args:
            key: Comes back with `chosen`.
            image: What it shows.
            words: The line below.
            tip: More words for the mouse; the line below where empty.
            mood: "good" or "bad" colors the line; the words say the same.
            at_front: Newest first.
            name: What it is known by, for `replace`.
        """
        item = QStandardItem(words)
        item.setData(image, IMAGE_ROLE)
        item.setData(name, NAME_ROLE)
        _set_words(item, key, words, tip, mood)
        self._model.insertRow(0 if at_front else self.num_tiles, item)
        if at_front and self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())  # the one that is shown large stays in sight
        if self.num_tiles > MAX_TILES:
            self._model.removeRow(self.num_tiles - 1 if at_front else 0)

    def replace(self, name: str, key: object, words: str, *, tip: str, mood: str) -> None:
        """Gives the tiles of a name another key and line, where they are."""
        for item in map(self._model.item, range(self.num_tiles)):
            if item.data(NAME_ROLE) == name:
                _set_words(item, key, words, tip, mood)

    def outdate(self, tip: str) -> None:
        """Removes the lines of all tiles, which are not true any more, until they are replaced."""
        for item in map(self._model.item, range(self.num_tiles)):
            _set_words(item, item.data(KEY_ROLE), "…", tip, "")

    def set_hint(self, hint: str) -> None:
        """Words to show while there is no tile."""
        self._hint = hint
        self.viewport().update()

    def mark(self, key: object) -> None:
        """Marks the tile of a key as the one that is shown large; none where it has no tile."""
        self.clearSelection()
        for row in range(self.num_tiles):
            index = self._model.index(row, 0)
            if index.data(KEY_ROLE) is key:
                self.setCurrentIndex(index)
                return
        self.setCurrentIndex(QModelIndex())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._hint and not self.num_tiles:
            painter = QPainter(self.viewport())
            painter.setPen(QColor(self._theme.colors.dim))
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, self._hint)

    def clear_tiles(self) -> None:
        """Removes all."""
        self._model.clear()
