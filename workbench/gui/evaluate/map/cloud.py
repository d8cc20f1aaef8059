"""Many points as one item of a scene: drawn into an image that fits what is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPaintEngine, QPainter, QTransform

from workbench.gui.evaluate.map.points import Colors, Flags, Places, stamp_points

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
