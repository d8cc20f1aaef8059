"""Side panels get back the width they were given, once a small window that squeezed them grows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow

_WIDTH = "width_px"
_SIDES = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)
_MARK = b"\nwidths "


def set_dock_width(view: QMainWindow, dock: QDockWidget, width_px: int) -> None:
    """Gives a dock a width, which it keeps and comes back to."""
    dock.setProperty(_WIDTH, width_px)
    view.resizeDocks([dock], [width_px], Qt.Orientation.Horizontal)


class DockWidths(QObject):
    """Follows the size of a view and the lines between its docks, which the user drags.

    Qt makes docks narrower where a window has too little room, and leaves them so.

    Args:
        view: The window that has the docks.
        docks: Those whose width is kept, by their key.
        middle_px: Width that is left to the middle as far as the docks can be narrower.
    """

    def __init__(self, view: QMainWindow, docks: Mapping[str, QDockWidget], middle_px: int) -> None:
        super().__init__(view)
        self._view = view
        self._middle_px = middle_px
        self._docks = dict(docks)
        self._before: dict[str, int] = {}
        view.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event.type():
            case QEvent.Type.Resize:
                QTimer.singleShot(0, self, self.fit)  # once the view has laid them out itself
            case QEvent.Type.MouseButtonPress:
                self._before = {key: dock.width() for key, dock in self._beside().items()}
            case QEvent.Type.MouseButtonRelease:
                QTimer.singleShot(0, self, self._take_dragged)
        return super().eventFilter(watched, event)

    def _beside(self) -> dict[str, QDockWidget]:
        """The docks that are shown at a side of the view."""
        area = self._view.dockWidgetArea
        return {
            key: dock
            for key, dock in self._docks.items()
            if dock.isVisible() and not dock.isFloating() and area(dock) in _SIDES
        }

    def fit(self) -> None:
        """Gives the docks their widths, as far as there is room."""
        docks = [dock for dock in self._beside().values() if dock.property(_WIDTH) is not None]
        sides = {self._view.dockWidgetArea(dock): dock.property(_WIDTH) for dock in docks}
        lacking = max(0, self._middle_px + sum(sides.values()) - self._view.width())
        for dock in docks:
            least = dock.minimumSizeHint().width()
            wanted = max(least, dock.property(_WIDTH) - lacking // len(sides))
            if dock.width() != wanted:
                self._view.resizeDocks([dock], [wanted], Qt.Orientation.Horizontal)

    def _take_dragged(self) -> None:
        for key, dock in self._beside().items():
            if key in self._before and dock.width() != self._before[key]:
                dock.setProperty(_WIDTH, dock.width())
        self._before = {}

    def save(self, places: bytes) -> bytes:
        """The widths that were given, behind the view's own state."""
        widths = {key: dock.property(_WIDTH) for key, dock in self._docks.items()}
        words = " ".join(f"{key}={width}" for key, width in widths.items() if width is not None)
        return places + _MARK + words.encode()

    def restore(self, saved: bytes) -> bytes:
        """Takes the widths of `saved`, if it has any; returns the view's own state."""
        places, mark, words = saved.rpartition(_MARK)
        for key, width in re.findall(rb"(\w+)=(\d{1,5})\b", words if mark else b""):
            if (dock := self._docks.get(key.decode())) is not None:
                dock.setProperty(_WIDTH, int(width))
        QTimer.singleShot(0, self, self.fit)
        return places if mark else saved
