"""A view that zooms at the pointer, scrolls by wheel and shows a dotted ground."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QNativeGestureEvent,
    QPainter,
    QPixmap,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGestureEvent, QGraphicsView, QPinchGesture, QWidget

from workbench.core.network.routing import Box
from workbench.gui.design.canvas.items import LINE_REACH, EdgeItem
from workbench.gui.design.canvas.problems import Room
from workbench.gui.design.canvas.scene import GraphScene
from workbench.gui.design.canvas.style import DETAIL_FROM
from workbench.gui.kit.labels import plain_label

MIN_ZOOM, MAX_ZOOM = 0.08, 3.0
ZOOM_STEP = 1.2
_TINY = 0.001
"""A view that has no size yet."""
_READABLE = 0.75
_MARGIN = 24.0
_EDGE = 8
"""Distance of cards to what lies over the view, and of a problem's card to its edges, view
pixels."""
_REFUSAL_MS = 6_000
"""Long enough to read two sentences."""
_HINT_OFFSET = QPointF(16, 18)
_DOTS = 24.0
"""Distance of the background's dots in scene pixels."""


@dataclass(frozen=True)
class Pointer:
    """Position of the pointer, in the scene and in view pixels, and which keys are held."""

    scene: QPointF
    view: QPointF
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier

    def has(self, modifier: Qt.KeyboardModifier) -> bool:
        """True while a modifier key is held."""
        return bool(self.modifiers & modifier)


class ZoomView(QGraphicsView):
    """Zoom, scrolling, background and hints of the canvas; independent of gestures.

    Attributes:
        overview: Where the overview is while a part of the network is seen; empty where it has no
            room.
        overlays: What may cover parts of the view.
        refusal_timer: Runs while words are shown that disappear by themselves.

    Signals:
        zoom_changed(float): 1.0 is 100%.
        view_changed(): Another part of the scene is shown.
        search_asked(QPointF, str): A layer is to be searched for this scene point, to
            come after this node ("" for none).
        group_toggled(str): The group of this name is to be opened, or folded.
        data_asked(): The data set is to be looked at, or changed.
    """

    zoom_changed = Signal(float)
    view_changed = Signal()
    search_asked = Signal(QPointF, str)
    group_toggled = Signal(str)
    data_asked = Signal()

    def __init__(self, scene: GraphScene) -> None:
        super().__init__(scene)
        self.graph_scene = scene  # a view does not keep its scene alive
        self._zoom = 1.0
        self._last_width = 0
        self.overview = QRect()
        self.overlays: list[QWidget] = []
        self._tile: tuple[float, str, QPixmap] | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.MinimalViewportUpdate)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        off = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setHorizontalScrollBarPolicy(off)
        self.setVerticalScrollBarPolicy(off)
        self.setMouseTracking(True)
        self._hint = plain_label(parent=self)
        self._hint.setObjectName("canvasHint")
        self._hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._hint.hide()
        self.refusal_timer = QTimer(self)
        self.refusal_timer.setSingleShot(True)
        self.refusal_timer.setInterval(_REFUSAL_MS)
        self.refusal_timer.timeout.connect(self.hide_hint)
        self.viewport().grabGesture(Qt.GestureType.PinchGesture)
        scene.contents_changed.connect(self._update_range)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(self.view_changed)
        scene.find_room = self._card_room
        self.view_changed.connect(scene.keep_card_seen)

    @property
    def zoom(self) -> float:
        """Scale of the view; 1.0 is 100%."""
        return self._zoom

    def visible_rect(self) -> QRectF:
        """The part of the scene that is shown."""
        return self.mapToScene(self.viewport().rect()).boundingRect()

    def _card_room(self) -> Room | None:
        """What a problem's card may cover; None before the view has a size."""
        inner = self.viewport().rect().adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
        if not self.isVisible() or inner.isEmpty():
            return None
        shown = [self.mapToScene(bar.toRect()).boundingRect() for bar in self._bars()]
        return Room(
            _scene_box(self.mapToScene(inner).boundingRect()),
            tuple(_scene_box(rect) for rect in shown),
            self.transform().m11(),
        )

    def _bars(self) -> list[QRectF]:
        """What lies over the view now, with its distance to cards."""
        return [_around(bar.geometry()) for bar in self.overlays if not bar.isHidden()]

    def _bars_at(self, *, is_whole: bool) -> list[QRectF]:
        """What lies over the view while the network is seen as a whole, or a part of it."""
        overview = _around(self.overview)
        others = [bar for bar in self._bars() if not overview.contains(bar)]
        return others if is_whole or self.overview.isEmpty() else [overview, *others]

    def pointer(self, position: QPointF, modifiers: Qt.KeyboardModifier) -> Pointer:
        """A view position as gestures use it."""
        scene_point = self.viewportTransform().inverted()[0].map(position)
        return Pointer(scene_point, position, modifiers)

    def line_at(self, point: QPointF) -> EdgeItem | None:
        """The line at a scene point: below 100% within the same few pixels of the screen."""
        return self.graph_scene.edge_at(point, LINE_REACH / min(1.0, self._zoom))

    def say(self, text: str) -> None:
        """Shows words in the middle for a while."""
        self.show_hint(text, QPointF(self.viewport().rect().center()))
        self.refusal_timer.start()

    def show_hint(self, text: str, position: QPointF, *, is_refusal: bool = False) -> None:
        """Shows words beside a view position."""
        self.refusal_timer.stop()
        hint, look = self._hint, self.graph_scene.look
        color, border = (look.bad, look.bad) if is_refusal else (look.text, look.line)
        style = (
            f"QLabel {{ background: {look.panel.name()}; color: {color.name()};"
            f" border: 1px solid {border.name()}; border-radius: 6px; padding: 4px 8px; }}"
        )
        if style != hint.styleSheet():
            hint.setStyleSheet(style)
        hint.setMaximumWidth(max(160, min(360, self.width() - 24)))
        hint.setWordWrap(False)
        hint.setText(text)
        hint.setWordWrap(hint.sizeHint().width() > hint.maximumWidth())
        hint.adjustSize()
        place = position + _HINT_OFFSET
        left = min(place.x(), self.width() - hint.width() - 8)
        top = min(place.y(), self.height() - hint.height() - 8)
        hint.move(round(max(8, left)), round(max(8, top)))
        hint.show()
        hint.raise_()

    def show_refusal(self, text: str, position: QPointF) -> None:
        """Shows why something was rejected: for some seconds, or until something else is done."""
        self.show_hint(text, position, is_refusal=True)
        self.refusal_timer.start()

    def end_refusal(self) -> None:
        """Hides the words of the last refusal, should they still be there."""
        if self.refusal_timer.isActive():
            self.hide_hint()

    def hide_hint(self) -> None:
        """Hides those words."""
        self.refusal_timer.stop()
        self._hint.hide()

    def set_zoom(self, zoom: float, anchor: QPointF | None = None) -> None:
        """Zooms; the scene point under `anchor` (view pixels) stays where it is."""
        zoom = max(self._least_zoom(), min(MAX_ZOOM, zoom))
        if zoom == self._zoom:
            return
        fixed = anchor if anchor is not None else QPointF(self.viewport().rect().center())
        scene_point = self.mapToScene(fixed.toPoint())
        self._zoom = zoom
        self.graph_scene.set_detailed(zoom >= DETAIL_FROM)
        self._update_range(scene_point)
        self.setTransform(QTransform.fromScale(zoom, zoom))
        self._scroll_by(QPointF(self.mapFromScene(scene_point)) - fixed)
        self.zoom_changed.emit(zoom)
        self.view_changed.emit()

    def _least_zoom(self) -> float:
        """The usual one, or that at which all of a large network is seen."""
        content = self.graph_scene.content_rect()
        return (
            MIN_ZOOM
            if content.isEmpty()
            else min(MIN_ZOOM, self._fitting(content, is_whole=True)[0])
        )

    def zoom_in(self) -> None:
        """Zooms in by one step, at the middle."""
        self.set_zoom(self._zoom * ZOOM_STEP)

    def zoom_out(self) -> None:
        """Zooms out by one step, at the middle."""
        self.set_zoom(self._zoom / ZOOM_STEP)

    def pan_by(self, delta: QPointF) -> None:
        """Moves the view by view pixels."""
        self._update_range()
        self._scroll_by(-delta)

    def center_on(self, point: QPointF) -> None:
        """Brings a scene point to the middle."""
        self._update_range(point)
        self.centerOn(point)

    def fit(self) -> None:
        """Shows everything, at most at 100%."""
        self.graph_scene.settle_card(anywhere=True)
        self.fit_to(self.graph_scene.content_rect())

    def fit_to(self, content: QRectF) -> None:
        """Shows a part of the scene, at most at 100%, where nothing lies over it."""
        if content.isEmpty():
            self.set_zoom(1.0)
            return
        is_whole = content.contains(self.graph_scene.cards_rect())
        zoom, room = self._fitting(content, is_whole=is_whole)
        self.set_zoom(zoom)
        self._center_in(content.center(), room)

    def is_seen(self, ids: Iterable[str]) -> bool:
        """Whether the view shows a part of any of these cards."""
        nodes, shown = self.graph_scene.nodes, self.visible_rect()
        return any(shown.intersects(nodes[key].card_rect()) for key in ids if key in nodes)

    def reveal(self, ids: Iterable[str]) -> None:
        """Scrolls cards into the part of the view that no overlay covers: all of them where they
        fit, else the first.
        """
        nodes = self.graph_scene.nodes
        rects = [nodes[key].card_rect() for key in ids if key in nodes]
        whole = reduce(QRectF.united, rects, QRectF())
        for rect in (whole, *rects[:1]):
            shown = self.viewportTransform().mapRect(rect)
            room = self._room_for(shown)
            if shown.width() <= room.width() and shown.height() <= room.height():
                self.pan_by(_into(shown, room))
                return

    def _room_for(self, shown: QRectF) -> QRectF:
        """The view without its margin, and without what lies above or below such a rectangle."""
        room = self._inner()
        for bar in self._bars_at(is_whole=False):
            if shown.left() < bar.right() and bar.left() < shown.right():
                if bar.center().y() < room.center().y():
                    room.setTop(max(room.top(), bar.bottom()))
                else:
                    room.setBottom(min(room.bottom(), bar.top()))
        return room

    def show_start(self, left_at: tuple[float, QPointF] | None = None) -> None:
        """Shows the first view of a network: all of it where that can be read, else what was in the
        middle when it was left, at that zoom, else its top.
        """
        scene = self.graph_scene
        scene.settle_card(anywhere=True)
        content, cards = scene.content_rect(), scene.cards_rect()
        for seen in (content, cards):
            if content.isEmpty() or self._fitting(seen, is_whole=True)[0] >= _READABLE:
                self.fit_to(seen)
                return
        if left_at is not None:
            self.set_zoom(left_at[0])
            self.center_on(left_at[1])
            if self.is_seen(scene.nodes):
                scene.settle_card()
                return
        self.set_zoom(1.0)
        rooms = (_beside(self._inner(), self._bars_at(is_whole=False)), self._inner())
        room = next((room for room in rooms if cards.width() <= room.width()), rooms[1])
        self._center_in(QPointF(cards.center().x(), cards.top() + room.height() / 2), room)
        self.reveal([min(scene.nodes, key=lambda key: scene.nodes[key].card_rect().top())])

    def _center_in(self, point: QPointF, room: QRectF) -> None:
        """Brings a scene point to the middle of a part of the view."""
        self.center_on(point)
        self.pan_by(room.center() - self.mapFromScene(point).toPointF())

    def _inner(self) -> QRectF:
        """The view without its margin."""
        edges = (_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        return QRectF(self.viewport().rect()).adjusted(*edges)

    def _fitting(self, content: QRectF, *, is_whole: bool) -> tuple[float, QRectF]:
        """At which zoom, at most 100%, a part of the scene fits into which part of the view, in
        whose middle nothing lies over it: the middle of the view where it can be read there.
        """
        bars = self._bars_at(is_whole=is_whole)
        inner = self._inner()
        best = _TINY, inner
        for room in (inner, _above(inner, bars), _beside(inner, bars)):
            across, down = room.width() / content.width(), room.height() / content.height()
            zoom = max(_TINY, min(1.0, across, down))
            shown = QRectF(QPointF(), content.size() * zoom)
            shown.moveCenter(room.center())
            if zoom > best[0] and not any(shown.intersects(bar) for bar in bars):
                best = zoom, room
            if best[0] >= _READABLE:
                break
        return best

    def _scroll_by(self, delta: QPointF) -> None:
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        across.setValue(across.value() + round(delta.x()))
        down.setValue(down.value() + round(delta.y()))

    def _update_range(self, *points: QPointF) -> None:
        """Lets the content be scrolled to the edge of the view, and never jumps."""
        room = self.viewport().size()
        wide, high = room.width() / self._zoom, room.height() / self._zoom
        rect = self.graph_scene.content_rect().adjusted(-wide, -high, wide, high)
        rect = rect.united(self.visible_rect())
        for point in points:
            rect = rect.united(QRectF(point.x() - wide, point.y() - high, 2 * wide, 2 * high))
        self.setSceneRect(rect)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What was in the middle stays there, also after a time without being shown, for which
        Qt names no old size.
        """
        corner = self.mapToScene(QPoint())  # before Qt moves it into its new range
        super().resizeEvent(event)
        self._update_range(corner)
        if self._last_width:
            across = (event.size().width() - self._last_width) / 2
            self.pan_by(QPointF(across, 0) - self.mapFromScene(corner))
        self._last_width = event.size().width()
        self.view_changed.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            steps = (delta.y() or delta.x()) / 120
            self.set_zoom(self._zoom * ZOOM_STEP**steps, event.position())
        else:
            fine = event.pixelDelta()
            moved = QPointF(fine) if not fine.isNull() else QPointF(delta) / 2
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                moved = moved.transposed()
            self.pan_by(moved)
        event.accept()

    def viewportEvent(self, event: QEvent) -> bool:
        zooming = Qt.NativeGestureType.ZoomNativeGesture
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == zooming:
            self.set_zoom(self._zoom * (1 + event.value()), event.position())
            return True
        if isinstance(event, QGestureEvent):
            pinch = event.gesture(Qt.GestureType.PinchGesture)
            if isinstance(pinch, QPinchGesture):
                middle = QPointF(self.viewport().mapFromGlobal(pinch.centerPoint().toPoint()))
                self.set_zoom(self._zoom * pinch.scaleFactor(), middle)
                return True
        return super().viewportEvent(event)

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        look = self.graph_scene.look
        tile = self._dot_tile()
        origin = self.mapFromScene(QPointF(0, 0))
        area = self.mapFromScene(rect).boundingRect().adjusted(-1, -1, 1, 1)
        painter.resetTransform()
        if tile is None:
            painter.fillRect(area, look.canvas)
        else:
            painter.drawTiledPixmap(area, tile, area.topLeft() - origin)
        painter.setTransform(self.viewportTransform())

    def _dot_tile(self) -> QPixmap | None:
        """One dot on the ground's color, as large as the distance between dots now."""
        distance = _DOTS * self._zoom
        if distance < 12:
            return None
        look, ratio = self.graph_scene.look, self.devicePixelRatioF()
        key = (round(distance) * ratio, look.canvas.name())
        if self._tile is None or self._tile[:2] != key:
            pixmap = QPixmap(round(key[0]), round(key[0]))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(look.canvas)
            with QPainter(pixmap) as painter:
                painter.fillRect(QRectF(0, 0, 1.5, 1.5), _between(look.line, look.faint))
            self._tile = (*key, pixmap)
        return self._tile[2]


def _between(a: QColor, b: QColor) -> QColor:
    """A color one quarter of the way from a to b."""
    channels = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return QColor(*((3 * start + end) // 4 for start, end in channels))


def _scene_box(rect: QRectF) -> Box:
    return Box(rect.left(), rect.top(), rect.right(), rect.bottom())


def _around(bar: QRect) -> QRectF:
    return QRectF(bar.adjusted(-_EDGE, -_EDGE, _EDGE, _EDGE))


def _above(room: QRectF, bars: Sequence[QRectF]) -> QRectF:
    """A part of the view without what lies at its upper and lower edge."""
    middle = room.center().y()
    top = max((bar.bottom() for bar in bars if bar.center().y() < middle), default=room.top())
    low = min((bar.top() for bar in bars if bar.center().y() >= middle), default=room.bottom())
    return QRectF(QPointF(room.left(), max(top, room.top())), QPointF(room.right(), low))


def _beside(room: QRectF, bars: Sequence[QRectF]) -> QRectF:
    """A part of the view without what lies at its left and right edge."""
    return _transposed(_above(_transposed(room), [_transposed(bar) for bar in bars]))


def _transposed(rect: QRectF) -> QRectF:
    return QRectF(rect.y(), rect.x(), rect.height(), rect.width())


def _into(rect: QRectF, room: QRectF) -> QPointF:
    """The shortest move that brings a rectangle into a larger one."""
    across = max(0.0, room.left() - rect.left()) - max(0.0, rect.right() - room.right())
    down = max(0.0, room.top() - rect.top()) - max(0.0, rect.bottom() - room.bottom())
    return QPointF(across, down)
