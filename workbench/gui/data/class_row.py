"""One class of a data set: its name, how many images, and some of them."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.core.format import count
from workbench.gui.kit.theme import Theme
from workbench.protocol.messages import ClassDescription

_HEIGHT_PX = 64
_NAME_PX = 132
_BAR_PX = 150
_COUNT_PX = 164
_THUMB_PX = 48
_GAP_PX = 6
_SHORT_BAR_PX = 40
_NUM_THUMBS = 4
"""Images that are shown before the bar has its full length."""


class ClassRow(QWidget):
    """Painted as a whole: a hundred classes are a hundred widgets, not a thousand."""

    def __init__(self, theme: Theme, description: ClassDescription, largest: int) -> None:
        super().__init__()
        self._theme = theme
        self._description = description
        self._share = (description.num_train + description.num_test) / max(largest, 1)
        self._pictures = [QPixmap(path) for path in description.thumbnails]
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_HEIGHT_PX if self._pictures else 32)
        self.setAccessibleName(f"{description.name}: {self._counts()}")
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(_NAME_PX + _SHORT_BAR_PX + _COUNT_PX, self.height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _counts(self) -> str:
        train, test = self._description.num_train, self._description.num_test
        return f"{count(train)} train, {count(test)} test" if test else count(train)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        colors = self._theme.colors
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.setFont(self._theme.font(weight=600))
        painter.setPen(QColor(colors.text))
        name = painter.fontMetrics().elidedText(
            self._description.name, Qt.TextElideMode.ElideMiddle, _NAME_PX - 10
        )
        painter.drawText(QRectF(0, 0, _NAME_PX, self.height()), middle, name)
        self._draw_bar(painter)
        painter.setFont(self._theme.font(12, tabular=True))
        painter.setPen(QColor(colors.dim))
        place = QRectF(_NAME_PX + self._bar_px + 10, 0, _COUNT_PX, self.height())
        painter.drawText(place, middle, self._counts())
        self._draw_pictures(painter, _NAME_PX + self._bar_px + _COUNT_PX + 10)

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

    def _draw_pictures(self, painter: QPainter, x: float) -> None:
        for picture in self._pictures:
            if picture.isNull() or x + _THUMB_PX > self.width():
                continue
            scale = _THUMB_PX / max(picture.width(), picture.height())
            width, height = picture.width() * scale, picture.height() * scale
            top = (self.height() - height) / 2
            left = x + (_THUMB_PX - width) / 2
            painter.drawPixmap(QRectF(left, top, width, height), picture, picture.rect().toRectF())
            x += _THUMB_PX + _GAP_PX
