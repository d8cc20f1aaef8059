"""The plane with the points: moved, zoomed, and a line drawn around some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from workbench.gui.evaluate.map.cloud import Look, PointCloud, bounds_of, placed
from workbench.gui.evaluate.map.points import Places
from workbench.gui.kit.theme import Theme

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
