"""Scrolls the canvas while a gesture's pointer stays near its edge."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPointF, QTimer

from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView

_NEAR = 28.0
"""Distance to the edge, in view pixels, from which on it scrolls."""
_INTERVAL_MS = 25
_FASTEST = 14.0


class EdgeScroller(QObject):
    """Scrolls in steps while the pointer is near the edge.

    Args:
        view: What is scrolled.
        move: Called after each step with the pointer, whose scene point has changed.
    """

    def __init__(self, view: ZoomView, move: Callable[[Pointer], None]) -> None:
        super().__init__(view)
        self._view = view
        self._move = move
        self._pointer: Pointer | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self.step)

    def follow(self, pointer: Pointer) -> None:
        """The gesture's pointer is here now."""
        self._pointer = pointer
        if not self._speed(pointer.view).isNull():
            if not self._timer.isActive():
                self._timer.start()
        else:
            self._timer.stop()

    def stop(self) -> None:
        """The gesture is over."""
        self._timer.stop()
        self._pointer = None

    def step(self) -> None:
        """Scrolls once, and moves the gesture along."""
        if self._pointer is None:
            return
        self._view.pan_by(-self._speed(self._pointer.view))
        self._move(self._pointer)

    def _speed(self, place: QPointF) -> QPointF:
        """View pixels per step: more the nearer to the edge, none in the middle."""
        room = self._view.viewport().rect()
        return QPointF(_push(place.x(), room.width()), _push(place.y(), room.height()))


def _push(value: float, length: float) -> float:
    if value < _NEAR:
        return -_FASTEST * min(1.0, (_NEAR - value) / _NEAR)
    if value > length - _NEAR:
        return _FASTEST * min(1.0, (value - length + _NEAR) / _NEAR)
    return 0.0
