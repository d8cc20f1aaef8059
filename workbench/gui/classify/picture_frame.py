"""A picture with rounded corners and a line below it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from workbench.gui.kit.labels import ElidedLabel
from workbench.gui.kit.theme import Theme

RADIUS_PX = 8


class _Canvas(QWidget):
    def __init__(self, theme: Theme, side_px: int, *, is_pixelated: bool) -> None:
        super().__init__()
        self._theme = theme
        self._is_pixelated = is_pixelated
        self.image = QImage()
        self.setMinimumSize(QSize(side_px, side_px))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = self._theme.colors
        place = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self.image.isNull():
            painter.setPen(QPen(QColor(colors.line), 1))
            painter.setBrush(QColor(colors.field))
            painter.drawRoundedRect(place, RADIUS_PX, RADIUS_PX)
        else:
            self._paint_image(painter, place)
        painter.end()

    def _paint_image(self, painter: QPainter, place: QRectF) -> None:
        size = self.image.size().toSizeF()
        scale = min(place.width() / size.width(), place.height() / size.height())
        fitted = QRectF(0, 0, size.width() * scale, size.height() * scale)
        fitted.moveCenter(QPointF(place.center()))
        outline = QPainterPath()
        outline.addRoundedRect(fitted, RADIUS_PX, RADIUS_PX)
        painter.setClipPath(outline)
        # The network's own picture shows its pixels as they are.
        smooth = QPainter.RenderHint.SmoothPixmapTransform
        painter.setRenderHint(smooth, not self._is_pixelated)
        painter.drawImage(fitted, self.image)
        painter.setClipping(False)
        painter.setPen(QPen(QColor(self._theme.colors.line), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline)


class PictureFrame(QWidget):
    """A square place for a picture; keeps its size when empty."""

    def __init__(
        self, theme: Theme, name: str, side_px: int, *, is_pixelated: bool = False
    ) -> None:
        super().__init__()
        self._canvas = _Canvas(theme, side_px, is_pixelated=is_pixelated)
        self._canvas.setAccessibleName(name)
        self.caption = ElidedLabel()
        self.caption.setProperty("role", "dim")
        self.caption.setFont(theme.font(12))
        self.setFixedWidth(side_px)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._canvas)
        column.addWidget(self.caption)

    @property
    def image(self) -> QImage:
        """The picture shown; null while empty."""
        return self._canvas.image

    def show_image(self, image: QImage, caption: str) -> None:
        """Shows a picture (null: an empty frame) and words below it."""
        self._canvas.image = image
        self._canvas.update()
        self.caption.set_full_text(caption)
