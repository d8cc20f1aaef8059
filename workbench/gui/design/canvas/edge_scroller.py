"""Scrolls the canvas while a gesture's pointer stays near its edge."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPointF, QTimer

from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView

_NEAR = 28.0
"""Distance to the edge, in view pixels, from which on it scrolls."""
_INTERVAL_MS = 25
_FASTEST = 14.0
_WAIT_MS = 500
"""A layer from the palette comes in over the edge: only a pointer that stays there scrolls."""


class EdgeScroller(QObject):
    """Scrolls in steps; calls `move` after each with the pointer, whose scene point changed.

    It begins once the gesture's pointer has been in the middle, or has waited at the edge.

    Attributes:
        wait: Runs while a pointer that came in over the edge has not left it yet.
        ticks: Runs while the canvas scrolls.
    """

    def __init__(self, view: ZoomView, move: Callable[[Pointer], None]) -> None:
        super().__init__(view)
        self._view = view
        self._move = move
        self._pointer: Pointer | None = None
        self._may_scroll = False
        self.wait = QTimer(self, interval=_WAIT_MS, singleShot=True)
        self.wait.timeout.connect(self._on_waited)
        self.ticks = QTimer(self, interval=_INTERVAL_MS)
        self.ticks.timeout.connect(self.step)

    def follow(self, pointer: Pointer) -> None:
        """Follows the gesture's pointer, which is here now."""
        self._pointer = pointer
        if self._speed(pointer.view).isNull():
            self._may_scroll = True
            self.wait.stop()
            self.ticks.stop()
        elif not self._may_scroll:
            if not self.wait.isActive():
                self.wait.start()
        elif not self.ticks.isActive():
            self.ticks.start()

    def _on_waited(self) -> None:
        self._may_scroll = True
        self.ticks.start()

    def stop(self) -> None:
        """Ends scrolling: the gesture is over."""
        self.wait.stop()
        self.ticks.stop()
        self._pointer, self._may_scroll = None, False

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
    inside = max(0.0, value - length + _NEAR) - max(0.0, _NEAR - value)
    return _FASTEST * max(-1.0, min(1.0, inside / _NEAR))
