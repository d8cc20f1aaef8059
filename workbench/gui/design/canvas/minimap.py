"""The whole network, small: click or drag in it to go somewhere."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QTransform
from PySide6.QtWidgets import QWidget

from workbench.gui.design.canvas.zoom_view import ZoomView

SIZE = QSize(150, 96)
_PADDING = 8.0
_LEAST_VIEW = QSize(620, 360)
"""A smaller view has no room for it, a column of cards and the zoom buttons: it would lie on the
cards."""


class Minimap(QWidget):
    """Cards as colored blocks, and a frame around the part that is shown."""

    def __init__(self, view: ZoomView) -> None:
        super().__init__(view)
        self._view = view
        self._scene = view.graph_scene
        self.setFixedSize(SIZE)
        self.setAccessibleName("Overview of the network")
        self.setToolTip("Overview: click to go there")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._scene.contents_changed.connect(self._on_changed)
        view.view_changed.connect(self._on_view_changed)
        self._blocks: QPixmap | None = None
        self._on_changed()

    def refresh(self) -> None:
        """Redraws the blocks: cards, or colors, have changed."""
        self._blocks = None
        self.update()

    def _on_changed(self) -> None:
        self._show_where_needed()
        self.refresh()

    def _on_view_changed(self) -> None:
        self._show_where_needed()
        self.update()

    @property
    def has_room(self) -> bool:
        """Whether the view is large enough for it."""
        return self._view.size().expandedTo(_LEAST_VIEW) == self._view.size()

    def _show_where_needed(self) -> None:
        """A network that is in sight as a whole needs no overview, which might cover a card."""
        is_whole = self._view.visible_rect().contains(self._scene.content_rect())
        self.setVisible(self.has_room and len(self._scene.nodes) > 0 and not is_whole)

    def _to_map(self) -> QTransform:
        """Maps the scene to the widget; the network fills it, the middle in the middle."""
        content = self._scene.content_rect()
        room = QRectF(self.rect()).adjusted(_PADDING, _PADDING, -_PADDING, -_PADDING)
        wide, high = max(content.width(), 600.0), max(content.height(), 400.0)
        scale = min(room.width() / wide, room.height() / high)
        middle = room.center()
        transform = QTransform.fromTranslate(middle.x(), middle.y())
        transform.scale(scale, scale)
        transform.translate(-content.center().x(), -content.center().y())
        return transform

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - small: painted whole
        if self._blocks is None:
            self._blocks = self._draw_blocks()
        look = self._scene.look
        frame = self._to_map().mapRect(self._view.visible_rect())
        frame = frame.intersected(QRectF(self.rect()).adjusted(3, 3, -3, -3))
        shade = QColor(look.accent)
        shade.setAlphaF(0.10)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.drawPixmap(0, 0, self._blocks)
            painter.setPen(QPen(look.accent, 1))
            painter.setBrush(shade)
            painter.drawRoundedRect(frame, 3, 3)

    def _draw_blocks(self) -> QPixmap:
        """The box and the cards: kept while only the frame moves."""
        look, ratio = self._scene.look, self.devicePixelRatioF()
        pixmap = QPixmap(self.size() * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(look.border_pen)
            painter.setBrush(look.panel)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
            transform = self._to_map()
            for frame in self._scene.frames.values():
                painter.fillRect(transform.mapRect(frame.area), look.hover)
            for item in self._scene.nodes.values():
                is_bad = item.facts.severity == "error"
                color = look.bad if is_bad else look.category_color(item.facts.category)
                block = transform.mapRect(item.card_rect())
                painter.fillRect(block.adjusted(0, 0, 0, max(0.0, 1.5 - block.height())), color)
        return pixmap

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go(event.position())
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event.position())
        event.accept()

    def _go(self, point: QPointF) -> None:
        self._view.center_on(self._to_map().inverted()[0].map(point))
