"""The images of a preview: one in each row, first as it is, then its variants."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.augmentation.previewer import IMAGES, VARIANTS, PreviewRow
from workbench.gui.kit.theme import Theme

_GAP_PX = 6
_HEAD_PX = 24
_LABEL_PX = 18
_LEAST_PX = 48
_SHARP_FROM = 2.0
"""An image enlarged this many times shows its pixels as they are."""


class PreviewGrid(QWidget):
    """Draws the rows as large as there is room; those of the last preview stay until the next."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.rows: list[PreviewRow] = []
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)
        self.set_rows([])

    def set_rows(self, rows: Sequence[PreviewRow]) -> None:
        """Shows these images."""
        self.rows = list(rows)
        labels = ", ".join(row.label for row in self.rows)
        self.setAccessibleName(f"Augmented images: {labels}" if labels else "No images")
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Small images can still be seen."""
        step = _LEAST_PX + _GAP_PX
        height = _HEAD_PX + IMAGES * (step + _LABEL_PX)
        return QSize((VARIANTS + 1) * step + _GAP_PX, height)

    def place(self, row: int, column: int) -> QRectF:
        """Rectangle of an image, in pixels; column 0 is the one that is not augmented."""
        width, height = self._cell()
        left = column * (width + _GAP_PX) + (_GAP_PX if column else 0)
        top = _HEAD_PX + row * (height + _LABEL_PX + _GAP_PX)
        image = self.rows[row].images[column]
        size = image.size().toSizeF()
        if size.isEmpty():
            return QRectF(left, top, width, height)
        size.scale(width, height, Qt.AspectRatioMode.KeepAspectRatio)
        return QRectF(left, top, size.width(), size.height())

    def _cell(self) -> tuple[float, float]:
        """The room of one image, the same for all."""
        width = (self.width() - (VARIANTS + 1) * _GAP_PX) / (VARIANTS + 1)
        height = (self.height() - _HEAD_PX) / IMAGES - _LABEL_PX - _GAP_PX
        return max(width, 1.0), max(height, 1.0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        colors = self._theme.colors
        for number, row in enumerate(self.rows):
            for column, image in enumerate(row.images):
                place = self.place(number, column)
                is_sharp = place.width() >= _SHARP_FROM * image.width()
                painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not is_sharp)
                painter.drawImage(place, image)
            self._draw_label(painter, number, row.label)
        if self.rows:
            painter.setPen(QColor(colors.dim))
            head = painter.fontMetrics().height()
            painter.drawText(QRectF(0, 0, self.place(0, 1).left(), head), "Original")
            left = self.place(0, 1).left()
            painter.drawText(
                QRectF(left, 0, self.width() - left, head), "In training, step by step"
            )
        painter.end()

    def _draw_label(self, painter: QPainter, number: int, label: str) -> None:
        painter.setPen(QColor(self._theme.colors.dim))
        width, height = self._cell()
        top = self.place(number, 0).top() + min(height, self.place(number, 0).height())
        text = painter.fontMetrics().elidedText(label, Qt.TextElideMode.ElideRight, int(width))
        painter.drawText(QRectF(0, top, width, _LABEL_PX), Qt.AlignmentFlag.AlignVCenter, text)
