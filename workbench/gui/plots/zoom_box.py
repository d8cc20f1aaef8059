"""How the mouse looks around in a plot: with Ctrl the wheel zooms the x axis (with Shift too, or
over it, the value axis), a drag draws a box, the middle button or Shift pans, a double click shows
all. The wheel alone scrolls the page that the plot is on.
"""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal


class ZoomBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph ships no type information
    """The inner area of a plot."""

    zoomed = Signal()
    all_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(enableMenu=False, defaultPadding=0.0)
        self.setMouseMode(pg.ViewBox.RectMode)
        self.disableAutoRange()
        self.sigRangeChangedManually.connect(lambda _axes: self.zoomed.emit())

    def wheelEvent(self, ev: Any, axis: int | None = None) -> None:
        """Zooms one axis: the value axis follows what is seen unless it is zoomed itself."""
        if not ev.modifiers() & Qt.KeyboardModifier.ControlModifier:
            ev.ignore()
            return
        if axis is None:
            is_shift = bool(ev.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            axis = pg.ViewBox.YAxis if is_shift else pg.ViewBox.XAxis
        self.childTransform()  # pyqtgraph reads it as it was painted last
        super().wheelEvent(ev, axis)

    def mouseDragEvent(self, ev: Any, axis: int | None = None) -> None:
        """Left draws a box; middle, or left with Shift, pans; right does nothing."""
        if ev.button() == Qt.MouseButton.RightButton:
            ev.ignore()
            return
        is_shift = bool(ev.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        is_pan = is_shift or ev.button() == Qt.MouseButton.MiddleButton
        self.state["mouseMode"] = pg.ViewBox.PanMode if is_pan else pg.ViewBox.RectMode
        super().mouseDragEvent(ev, axis)
        if ev.isFinish():
            self.zoomed.emit()

    def mouseClickEvent(self, ev: Any) -> None:
        """A double click shows everything again."""
        if ev.double():
            ev.accept()
            self.all_wanted.emit()
