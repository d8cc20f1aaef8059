"""Where the panels of each view stand: stored, brought back, reset, listed in a menu."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QObject, Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QMenu, QWidget

from workbench.gui.common.window_state import LAYOUT_VERSION, WindowState


class Layouts(QObject):
    """Works on any view that is a QMainWindow with docks; others have nothing to store."""

    def __init__(self, state: WindowState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._views: dict[str, QMainWindow] = {}
        self._first: dict[str, QByteArray] = {}

    def add(self, key: str, view: QWidget) -> None:
        """Takes a view that was just built; its panels go where they were left."""
        if not isinstance(view, QMainWindow):
            return
        self._views[key] = view
        self._first[key] = view.saveState(LAYOUT_VERSION)
        stored = self._state.bytes(f"layout/{key}")
        if not stored.isEmpty():
            view.restoreState(stored, LAYOUT_VERSION)

    def save(self) -> None:
        """Stores where all panels stand."""
        for key, view in self._views.items():
            self._state.set_bytes(f"layout/{key}", view.saveState(LAYOUT_VERSION))

    def reset(self) -> None:
        """Puts all panels back to where they stood at first."""
        self._state.forget_layouts()
        for key, view in self._views.items():
            view.restoreState(self._first[key], LAYOUT_VERSION)
            for dock in docks_of(view):
                dock.show()

    def fill_menu(self, menu: QMenu, current: QWidget | None) -> None:
        """Lists the panels of a view, each to be shown or hidden."""
        menu.clear()
        docks = docks_of(current)
        for dock in docks:
            menu.addAction(dock.toggleViewAction())
        if not docks:
            menu.addAction("This view has no side panels").setEnabled(False)


def docks_of(view: QWidget | None) -> list[QDockWidget]:
    """The docks of a view."""
    if not isinstance(view, QMainWindow):
        return []
    return view.findChildren(QDockWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)


def focus_next_panel(view: QWidget | None) -> None:
    """Moves the focus to the next panel of a view, or to its middle."""
    if not isinstance(view, QMainWindow):
        return
    middle = view.centralWidget()
    docks = [dock.widget() for dock in docks_of(view) if dock.isVisible()]
    places = [middle, *docks] if middle else docks
    focused = QApplication.focusWidget()
    now = next(
        (
            index
            for index, place in enumerate(places)
            if focused is not None and (place is focused or place.isAncestorOf(focused))
        ),
        -1,
    )
    target = places[(now + 1) % len(places)]
    if target.focusPolicy() == Qt.FocusPolicy.NoFocus:
        inner = [w for w in target.findChildren(QWidget) if _takes_focus(w)]
        target = inner[0] if inner else target
    target.setFocus(Qt.FocusReason.TabFocusReason)


def _takes_focus(widget: QWidget) -> bool:
    return widget.isVisible() and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
