"""Points of a plot that are circled with the mouse."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

RATE_MS = 12
"""pyqtgraph passes a hundred movements of the mouse a second on."""
REST_MS = 100
_MARGIN_PX = 8
_STEPS = 5


def resting_pixels(plot):
    """Where the points are in the scene, (n, 2) in pixels, once nothing around the plot changes its
    size any more.
    """
    before = plot.pixels()
    while True:
        QTest.qWait(REST_MS)
        now = plot.pixels()
        if now.shape == before.shape and (now == before).all():
            return now
        before = now


def draw_around(plot, places):
    """Draws a rectangle around places of the scene, (n, 2) in pixels."""
    (left, top), (right, bottom) = places.min(axis=0) - _MARGIN_PX, places.max(axis=0) + _MARGIN_PX
    sides = ((left, top), (right, top), (right, bottom), (left, bottom))
    corners = [plot.mapFromScene(float(x), float(y)) for x, y in sides]
    target = plot.viewport()
    QTest.mousePress(target, Qt.MouseButton.LeftButton, pos=corners[0])
    for start, end in zip(corners, [*corners[1:], corners[0]], strict=True):
        for step in range(1, _STEPS + 1):
            QTest.mouseMove(target, start + (end - start) * (step / _STEPS))
            QTest.qWait(RATE_MS)
    QTest.mouseRelease(target, Qt.MouseButton.LeftButton, pos=corners[0])
