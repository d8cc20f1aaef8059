"""Plot of the image map: the cloud of points, its legend, and a card for the point under
the mouse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QIcon,
    QImage,
    QKeyEvent,
    QPaintEngine,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QTransform,
)
from PySide6.QtWidgets import QGraphicsPathItem, QLabel, QListWidget, QListWidgetItem, QWidget

from workbench.core.format import count
from workbench.gui.evaluate.map_points import Colors, Flags, Places, stamp_points
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import Box

# cloud ---------------------------------------------------------------------------------------
# Many points as one item of a scene: drawn into an image that fits what is seen.

POINT_PX, RING_PX = 2.6, 1.5
"""Radius of a point; width of the ring around one that stands out."""
_SHARP = 2.0
"""Pixels of the points for each of a drawing that can be enlarged."""


@dataclass(frozen=True)
class Look:
    """How points look.

    Attributes:
        places: Coordinates of the points, float32 (n, 2).
        colors: Color of each point as 0xAARRGGBB, uint32 (n,).
        is_wrong, is_picked: Which have a ring of the first, or of the second color of `rings`.
        rings: Two colors.
        ground: Color behind them.
    """

    places: Places
    colors: Colors
    is_wrong: Flags
    is_picked: Flags
    rings: tuple[int, int]
    ground: int


class PointCloud(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph ships no type information
    """Points of a size in pixels, however far the view is zoomed."""

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None
        self._bounds = QRectF()

    def set_look(self, look: Look) -> None:
        """Shows these points."""
        self._look = look
        self.prepareGeometryChange()
        self._bounds = bounds_of(look.places)
        self.update()

    def boundingRect(self) -> QRectF:
        """Bounds of the points in their coordinates, with what the largest point may cover."""
        (wide, high), bounds = self.pixelVectors(), self._bounds
        room_x = 12 * abs(wide.x()) if wide is not None else 0.0
        room_y = 12 * abs(high.y()) if high is not None else 0.0
        return bounds.adjusted(-room_x, -room_y, room_x, room_y)

    def viewTransformChanged(self) -> None:
        """What a pixel is has changed."""
        self.prepareGeometryChange()

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draws all points that can be seen, in pixels."""
        look = self._look
        if look is None or not len(look.places):
            return
        # Of logical pixels: those of the device come in with the scale below.
        to_pixels = painter.worldTransform()
        view = self.getViewBox()
        seen = to_pixels.mapRect(self.mapRectFromScene(view.sceneBoundingRect())).toAlignedRect()
        if seen.isEmpty():
            return
        is_drawing = painter.paintEngine().type() == QPaintEngine.Type.SVG
        scale = _SHARP if is_drawing else max(1.0, painter.device().devicePixelRatioF())
        corner = np.array([seen.left(), seen.top()], np.float32)
        at = (placed(look.places, to_pixels) - corner) * np.float32(scale)
        size = round(seen.height() * scale), round(seen.width() * scale)
        image = _image(look, at, size, scale)
        image.setDevicePixelRatio(scale)
        painter.save()
        painter.resetTransform()
        painter.drawImage(seen.topLeft(), image)
        painter.restore()


def _image(look: Look, at: Places, size: tuple[int, int], scale: float) -> QImage:
    pixels = np.zeros(size, np.uint32)
    margin = 24.0
    inside = (at > -margin).all(axis=1) & (at[:, 0] < size[1] + margin)
    inside &= at[:, 1] < size[0] + margin
    radius = POINT_PX * scale
    plain, ring = inside, radius + RING_PX * scale
    stamp_points(pixels, at[plain], look.colors[plain], radius, look.ground)
    for is_ringed, color in ((look.is_wrong, look.rings[0]), (look.is_picked, look.rings[1])):
        chosen = inside & is_ringed
        if chosen.any():
            around = np.full(int(chosen.sum()), color, np.uint32)
            stamp_points(pixels, at[chosen], around, ring, look.ground)
            stamp_points(pixels, at[chosen], look.colors[chosen], radius, color)
    height, width = size
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32)
    return image.copy()  # the numbers go with this function


def placed(places: Places, transform: QTransform) -> Places:
    """Places (n, 2) as a transform maps them, without perspective."""
    matrix = np.array(
        [[transform.m11(), transform.m12()], [transform.m21(), transform.m22()]], np.float32
    )
    shift = np.array([transform.dx(), transform.dy()], np.float32)
    found: Any = places @ matrix + shift
    return np.asarray(found, np.float32)


def bounds_of(places: Places) -> QRectF:
    """The smallest rectangle around places; of some size also where they are one."""
    if not len(places):
        return QRectF(-1, -1, 2, 2)
    (left, top), (right, bottom) = places.min(axis=0).tolist(), places.max(axis=0).tolist()
    wide, high = max(right - left, 1e-6), max(bottom - top, 1e-6)
    return QRectF(left, top, wide, high)


# plot ----------------------------------------------------------------------------------------
# The plane with the points: moved, zoomed, and a line drawn around some of them.

_MARGIN = 0.05
_REACH_PX = 9.0
_STEP = 0.15
"""Share of the visible width or height by which an arrow key moves the view."""
_ZOOM = 0.8
_NEAR_PX = 3.0
"""Corners of a drawn line that are nearer to the last one are left out."""


class LassoBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph ships no type information
    """Left draws a line, Shift or the middle button moves, the wheel zooms, a double click shows
    all.

    Signals:
        drawn(list[QPointF], bool): The line so far, in coordinates of the points; whether it ends.
        all_wanted(): All is to be seen.
    """

    drawn = Signal(object, bool)
    all_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(enableMenu=False, defaultPadding=0.0)
        self.setMouseMode(pg.ViewBox.PanMode)
        self.disableAutoRange()
        self.setAspectLocked(True)
        self._corners: list[QPointF] = []
        self._last = QPointF()

    def mouseDragEvent(self, ev: Any, axis: int | None = None) -> None:
        """Draws, or moves the plane."""
        is_left = ev.button() == Qt.MouseButton.LeftButton
        if not is_left or ev.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            super().mouseDragEvent(ev, axis)
            return
        ev.accept()
        if ev.isStart():
            self._corners = [self.mapSceneToView(ev.buttonDownScenePos())]
            self._last = ev.buttonDownScenePos()
        moved = ev.scenePos() - self._last
        if moved.manhattanLength() >= _NEAR_PX or ev.isFinish():
            self._corners.append(self.mapSceneToView(ev.scenePos()))
            self._last = ev.scenePos()
            self.drawn.emit(list(self._corners), ev.isFinish())

    def mouseClickEvent(self, ev: Any) -> None:
        """A double click shows everything again."""
        if ev.double():
            ev.accept()
            self.all_wanted.emit()


class MapPlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph ships no type information
    """The points of a map.

    Signals:
        lassoed(ndarray): A line was drawn around points; its corners, float64 (m, 2).
        pointed(int): The place in the list of points that the mouse is at; -1 for none.
        clicked(int): A point was clicked.
        all_chosen(): All points that are shown are to be chosen.
        moved(): Another part of the plane is seen.
    """

    lassoed = Signal(object)
    pointed = Signal(int)
    clicked = Signal(int)
    all_chosen = Signal()
    moved = Signal()

    def __init__(self, theme: Theme) -> None:
        self.box = LassoBox()
        super().__init__(viewBox=self.box, background=None)
        self._theme = theme
        self._places: Places = np.zeros((0, 2), np.float32)
        item = self.getPlotItem()
        item.hideButtons()
        item.setMenuEnabled(False)
        for side in ("left", "bottom"):
            item.hideAxis(side)  # the numbers of a map mean nothing
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setViewportUpdateMode(self.ViewportUpdateMode.FullViewportUpdate)
        self.setMinimumSize(200, 180)
        self.setAccessibleName("Map of the images")
        self.cloud = PointCloud()
        self.line = QGraphicsPathItem()
        self.line.setZValue(20)
        for part in (self.cloud, self.line):
            self.box.addItem(part, ignoreBounds=True)
        self.box.drawn.connect(self._on_drawn)
        self.box.all_wanted.connect(self.show_all)
        self.box.sigRangeChanged.connect(lambda *_: self.moved.emit())
        self._hover = pg.SignalProxy(
            self.scene().sigMouseMoved, rateLimit=30, slot=self._on_mouse_moved
        )
        self.scene().sigMouseClicked.connect(self._on_clicked)
        theme.changed.connect(self._style)
        self._style()

    def _style(self) -> None:
        colors = self._theme.colors
        self.setBackground(colors.field)
        pen = QPen(QColor(colors.accent), 1.5)
        pen.setCosmetic(True)
        self.line.setPen(pen)
        soft = QColor(colors.accent)
        soft.setAlpha(36)
        self.line.setBrush(soft)

    def set_look(self, look: Look) -> None:
        """Shows these points."""
        self._places = look.places
        self.cloud.set_look(look)

    def show_all(self) -> None:
        """Shows the whole plane, and no line."""
        self.clear_line()
        self.box.setRange(bounds_of(self._places), padding=_MARGIN)

    def clear_line(self) -> None:
        """Removes the drawn line."""
        self.line.setPath(QPainterPath())

    def _on_drawn(self, corners: list[QPointF], is_end: bool) -> None:  # noqa: FBT001 - Qt's signal
        path = QPainterPath(corners[0])
        for corner in corners[1:]:
            path.lineTo(corner)
        path.closeSubpath()
        self.line.setPath(path)
        if is_end:
            self.lassoed.emit(np.array([(each.x(), each.y()) for each in corners], np.float64))

    def pixels(self) -> Places:
        """Positions of the points in pixels of the scene, (n, 2)."""
        return placed(self._places, self.cloud.sceneTransform())

    def near(self, at: QPointF) -> int:
        """The place in the list of the point at a place of the scene; -1 for none."""
        if not len(self._places):
            return -1
        apart = np.abs(self.pixels() - np.array([at.x(), at.y()], np.float32)).max(axis=1)
        found = int(apart.argmin())
        return found if apart[found] <= _REACH_PX else -1

    def _on_mouse_moved(self, args: tuple[QPointF]) -> None:
        is_inside = self.box.sceneBoundingRect().contains(args[0])
        self.pointed.emit(self.near(args[0]) if is_inside else -1)

    def _on_clicked(self, ev: Any) -> None:
        if ev.button() == Qt.MouseButton.LeftButton and not ev.double():
            self.clear_line()
            if (found := self.near(ev.scenePos())) >= 0:
                self.clicked.emit(found)

    def leaveEvent(self, ev: QEvent) -> None:
        super().leaveEvent(ev)
        self.pointed.emit(-1)

    def keyPressEvent(self, ev: QKeyEvent) -> None:
        """Arrows move, + and - zoom, Home shows all, Ctrl+A chooses all points."""
        key, step = Qt.Key(ev.key()), Qt.Key
        (left, right), (low, high) = self.box.viewRange()
        sides = {
            step.Key_Left: (-1, 0),
            step.Key_Right: (1, 0),
            step.Key_Up: (0, 1),
            step.Key_Down: (0, -1),
        }
        zooms = {step.Key_Plus: _ZOOM, step.Key_Equal: _ZOOM, step.Key_Minus: 1 / _ZOOM}
        is_ctrl = bool(ev.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key == step.Key_A and is_ctrl:
            self.all_chosen.emit()
        elif key in sides:
            x, y = sides[key]
            self.box.translateBy(x=_STEP * x * (right - left), y=_STEP * y * (high - low))
        elif key in zooms:
            self.box.scaleBy((zooms[key], zooms[key]))
        elif key == step.Key_Home:
            self.show_all()
        elif key == step.Key_Escape and not self.line.path().isEmpty():
            self.clear_line()
        else:
            ev.ignore()  # of the window

    def sizeHint(self) -> QSize:
        """Takes what it is given; pyqtgraph's own hint would push everything else away."""
        return QSize(420, 360)


# legend --------------------------------------------------------------------------------------
# The classes of a map with their colors: a check mark shows or hides the points of one.

_SWATCH_PX = 12
_HOW = "Check to show, double-click or Enter to see the images of the class"


class ClassLegend(QListWidget):
    """One line for each class.

    Signals:
        hidden_changed(frozenset[int]): The numbers of the classes that are hidden now.
        class_chosen(int): All shown images of this class are to be seen.
    """

    hidden_changed = Signal(object)
    class_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Classes on the map")
        self.setToolTip(_HOW)
        self.setIconSize(QSize(_SWATCH_PX, _SWATCH_PX))
        self.setFixedWidth(150)
        self.setUniformItemSizes(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemChanged.connect(lambda _item: self.hidden_changed.emit(self.hidden()))
        self.itemActivated.connect(lambda item: self.class_chosen.emit(self.row(item)))

    def set_classes(self, names: Sequence[str], colors: Sequence[tuple[int, int, int]]) -> None:
        """Shows these classes, all of them checked."""
        self.blockSignals(True)
        self.clear()
        for name, color in zip(names, colors, strict=True):
            item = QListWidgetItem(_swatch(QColor(*color)), name)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked)
            self.addItem(item)
        self.blockSignals(False)

    def set_colors(self, colors: Sequence[tuple[int, int, int]]) -> None:
        """Shows other colors: those of another theme."""
        self.blockSignals(True)
        for row, color in enumerate(colors):
            self.item(row).setIcon(_swatch(QColor(*color)))
        self.blockSignals(False)

    def set_counts(self, counts: Sequence[int]) -> None:
        """Sets how many points each class has, in the tips."""
        self.blockSignals(True)
        for row, number in enumerate(counts):
            item = self.item(row)
            item.setToolTip(plain_tip(f"{item.text()}: {count(number)} images\n{_HOW}"))
        self.blockSignals(False)

    def hidden(self) -> frozenset[int]:
        """The numbers of the classes that are not shown."""
        rows = range(self.count())
        return frozenset(
            row for row in rows if self.item(row).checkState() == Qt.CheckState.Unchecked
        )

    def set_all(self, *, is_shown: bool) -> None:
        """Shows or hides all classes."""
        self.blockSignals(True)
        state = Qt.CheckState.Checked if is_shown else Qt.CheckState.Unchecked
        for row in range(self.count()):
            self.item(row).setCheckState(state)
        self.blockSignals(False)
        self.hidden_changed.emit(self.hidden())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter shows the images of the class; Qt's own does so on some platforms only."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentRow() >= 0:
            self.class_chosen.emit(self.currentRow())
            return
        super().keyPressEvent(event)


def _swatch(color: QColor) -> QIcon:
    pixmap = QPixmap(2 * _SWATCH_PX, 2 * _SWATCH_PX)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(2, 2, 2 * _SWATCH_PX - 4, 2 * _SWATCH_PX - 4)
    painter.end()
    return QIcon(pixmap)


# card ----------------------------------------------------------------------------------------
# What is known of the point under the mouse: its image and a few words, beside it.

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
