"""What is known of the point under the mouse: its image and a few words, beside it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QWidget

from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label

_IMAGE_PX, _GAP_PX = 112, 14


class PointCard(Box):
    """A small card over the map; the mouse goes through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("card", 8, 4)
        self.setParent(parent)
        self._over = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAutoFillBackground(True)
        self.picture = QLabel()
        self.picture.setFixedSize(_IMAGE_PX, _IMAGE_PX)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words = plain_label(role="dim", wrap=True)
        self.words.setFixedWidth(_IMAGE_PX)
        self.column.addWidget(self.picture)
        self.column.addWidget(self.words)
        self.hide()

    def show_point(self, at: QPoint, words: str, pixmap: QPixmap | None) -> None:
        """Shows a point at a place of the parent; without its image while that is not there."""
        self.words.setText(words)
        self.set_pixmap(pixmap)
        self.adjustSize()
        room = self._over.rect()
        left, top = at.x() + _GAP_PX, at.y() + _GAP_PX
        if left + self.width() > room.right():
            left = at.x() - _GAP_PX - self.width()
        if top + self.height() > room.bottom():
            top = at.y() - _GAP_PX - self.height()
        self.move(max(0, left), max(0, top))
        self.show()
        self.raise_()

    def set_pixmap(self, pixmap: QPixmap | None) -> None:
        """Shows the image."""
        if pixmap is None or pixmap.isNull():
            self.picture.setText("…" if pixmap is None else "unreadable")
            return
        size = self.picture.size()
        keep = Qt.AspectRatioMode.KeepAspectRatio
        smooth = Qt.TransformationMode.SmoothTransformation
        self.picture.setPixmap(pixmap.scaled(size, keep, smooth))
