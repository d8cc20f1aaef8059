"""One class of a data set: its name, how many images, and some of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.data.classes.name_field import ClassNameField
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme
from workbench.protocol.describe_data import ClassDescription

_HEIGHT_PX = 64
_NAME_PX = 132
_BAR_PX = 150
_COUNT_PX = 232
_THUMB_PX = 48
_GAP_PX = 6
_SHORT_BAR_PX = 24
_PAD_PX = 4
_FIELD_PX = 28
_SELECTED_ALPHA = 40
_NUM_THUMBS = 4
"""Images that are shown before the bar has its full length."""


class ClassRow(QWidget):
    """Painted as a whole: a hundred classes are a hundred widgets, not a thousand.

    With the keyboard: left and right go from image to image, Enter chooses one, F2 renames the
    class, Space selects it.

    Attributes:
        description: What it shows.
        is_selected: Whether the class is selected.

    Signals:
        chosen(int): An image was chosen, by its number in the class.
        pressed(Qt.KeyboardModifier): The class was pressed beside its images, with these keys held.
        renamed(str): The class got another name.
    """

    chosen = Signal(int)
    pressed = Signal(object)
    renamed = Signal(str)

    def __init__(
        self, theme: Theme, description: ClassDescription, largest: int, counts: str
    ) -> None:
        super().__init__()
        self._theme = theme
        self.description = description
        size = description.num_train + description.num_test + description.num_validation
        self._share = size / max(largest, 1)
        self._pictures = [QPixmap(each.path) for each in description.thumbnails]
        self._current = 0
        self._note = ""
        self.is_selected = False
        self._hovered: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_HEIGHT_PX if self._pictures else 32)
        self.set_counts(counts)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleDescription("Press Enter to enlarge its images, F2 to rename it")
        self.setMouseTracking(True)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(_NAME_PX + _SHORT_BAR_PX + _COUNT_PX, self.height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def set_counts(self, words: str) -> None:
        """Shows how many images it has, in words, by what a run does with them."""
        self._counts = words
        self.setAccessibleName(f"{self.description.name}: {words}")
        self.update()

    def set_note(self, words: str) -> None:
        """Shows what the class is called in the data set, where that is something else."""
        self._note = words
        self.update()

    def set_selected(self, *, is_selected: bool) -> None:
        """Shows whether the class is selected."""
        self.is_selected = is_selected
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        colors = self._theme.colors
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        self._draw_selection(painter)
        self._draw_name(painter)
        self._draw_bar(painter)
        painter.setFont(self._theme.font(12, tabular=True))
        painter.setPen(QColor(colors.dim))
        place = QRectF(_NAME_PX + self._bar_px + 10, 0, _COUNT_PX, self.height())
        painter.drawText(place, middle, self._counts)
        self._draw_pictures(painter)

    def _draw_selection(self, painter: QPainter) -> None:
        if self.is_selected:
            fill = QColor(self._theme.colors.accent)
            fill.setAlpha(_SELECTED_ALPHA)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(fill)
            painter.drawRoundedRect(self.rect().toRectF(), 4, 4)

    def _draw_name(self, painter: QPainter) -> None:
        colors = self._theme.colors
        lines = [(self.description.name, self._theme.font(weight=600), colors.text)]
        if self._note:
            lines.append((self._note, self._theme.font(11), colors.dim))
        whole = QRectF(_PAD_PX, 0, _NAME_PX - _PAD_PX, self.height())
        for number, (words, font, color) in enumerate(lines):
            painter.setFont(font)
            painter.setPen(QColor(color))
            room = _NAME_PX - 10 - _PAD_PX
            metrics = painter.fontMetrics()
            shown = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, room)
            shift = (number - (len(lines) - 1) / 2) * metrics.lineSpacing() * 1.15
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            painter.drawText(whole.translated(0, shift), flags, shown)

    @property
    def _bar_px(self) -> int:
        """The bar is short where the row is: the images have what it leaves."""
        wanted = _NUM_THUMBS * (_THUMB_PX + _GAP_PX)
        return max(_SHORT_BAR_PX, min(_BAR_PX, self.width() - _NAME_PX - _COUNT_PX - wanted))

    def _draw_bar(self, painter: QPainter) -> None:
        colors = self._theme.colors
        y = self.height() / 2 - 5
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.field))
        painter.drawRoundedRect(QRectF(_NAME_PX, y, self._bar_px, 10), 4, 4)
        painter.setBrush(QColor(colors.train))
        painter.drawRoundedRect(QRectF(_NAME_PX, y, max(self._bar_px * self._share, 3), 10), 4, 4)

    def picture_places(self) -> Iterator[tuple[int, QRectF]]:
        """The images that there is room for: number in the class, and where."""
        x = float(_NAME_PX + self._bar_px + _COUNT_PX + 10)
        for number, picture in enumerate(self._pictures):
            if picture.isNull() or x + _THUMB_PX > self.width():
                continue
            scale = _THUMB_PX / max(picture.width(), picture.height())
            place = QRectF(0, 0, picture.width() * scale, picture.height() * scale)
            place.moveCenter(QPointF(x + _THUMB_PX / 2, self.height() / 2))
            yield number, place
            x += _THUMB_PX + _GAP_PX

    def _draw_pictures(self, painter: QPainter) -> None:
        marked = self._current if self.hasFocus() else self._hovered
        for number, place in self.picture_places():
            picture = self._pictures[number]
            painter.drawPixmap(place, picture, picture.rect().toRectF())
            if number in (marked, self._hovered):
                painter.setPen(QPen(QColor(self._theme.colors.accent), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(place)

    # choosing an image --------------------------------------------------------------------

    def _picture_at(self, point: QPointF) -> int | None:
        return next((n for n, place in self.picture_places() if place.contains(point)), None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._picture_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(None)

    def _hover(self, number: int | None) -> None:
        if number == self._hovered:
            return
        self._hovered = number
        file = self.description.thumbnails[number].file if number is not None else ""
        words = "\n".join(filter(None, (Path(file).name, "Click to enlarge")))
        self.setToolTip(plain_tip(words) if number is not None else "")
        shape = Qt.CursorShape
        self.setCursor(shape.ArrowCursor if number is None else shape.PointingHandCursor)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        number = self._picture_at(event.position())
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if number is not None:
            self._choose(number)
        else:
            self.pressed.emit(event.modifiers())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.position().x() < _NAME_PX:
            self.rename()
        else:
            super().mouseDoubleClickEvent(event)

    def rename(self) -> None:
        """Opens a field for another name."""
        place = QRect(0, (self.height() - _FIELD_PX) // 2, _NAME_PX, _FIELD_PX)
        field = ClassNameField(self.description.name, place, self)
        field.named.connect(self.renamed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shown = [number for number, _ in self.picture_places()]
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            if shown:
                self._choose(self._current)
        elif event.key() == Qt.Key.Key_F2:
            self.rename()
        elif event.key() == Qt.Key.Key_Space:
            self.pressed.emit(event.modifiers() | Qt.KeyboardModifier.ControlModifier)
        elif step and self._current + step in shown:
            self._current += step
            self.update()
        elif not step:
            super().keyPressEvent(event)

    def _choose(self, number: int) -> None:
        self._current = number
        self.update()
        self.chosen.emit(number)
