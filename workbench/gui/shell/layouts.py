"""Layouts of the panels of each view: stored, restored, reset, listed in a menu."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from workbench.gui.common.docks import Docks
from workbench.gui.common.sections import Sections
from workbench.gui.common.window_state import WindowState

_NO_SIDES = "This view has no side panels"


class Layouts(QObject):
    """Works on any view that has panels; others have nothing to store.

    Signals:
        said(str): A sentence for the status line.
    """

    said = Signal(str)

    def __init__(self, state: WindowState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._panels: dict[str, Docks | Sections] = {}
        self._first: dict[str, QByteArray] = {}

    def add(self, key: str, view: QWidget) -> None:
        """Takes a view that was just built; its panels go where they were left."""
        panels = _panels_of(view)
        if panels is None:
            return
        self._panels[key] = panels
        self._first[key] = panels.save()
        panels.restore(self._state.bytes(f"layout/{key}"))

    def save(self) -> None:
        """Stores where all panels are."""
        for key, panels in self._panels.items():
            self._state.set_bytes(f"layout/{key}", panels.save())

    def reset(self) -> None:
        """Puts all panels back to where they were at first."""
        self._state.forget_layouts()
        for key, panels in self._panels.items():
            panels.restore(self._first[key])
            panels.show_all()

    def toggle_sides(self, current: QWidget | None) -> None:
        """Hides the side panels of a view, or shows those that were hidden so."""
        panels = _panels_of(current)
        if isinstance(panels, Docks):
            panels.toggle_sides()
        else:
            self.said.emit(_NO_SIDES)

    def fill_menu(self, menu: QMenu, current: QWidget | None) -> None:
        """Lists the panels of a view, each to be shown or hidden."""
        menu.clear()
        panels = _panels_of(current)
        if panels is not None:
            menu.addActions(panels.actions())
        else:
            menu.addAction(_NO_SIDES).setEnabled(False)


def _panels_of(view: QWidget | None) -> Docks | Sections | None:
    panels = getattr(view, "panels", None)
    return panels if isinstance(panels, Docks | Sections) else None


def focus_next_panel(view: QWidget | None) -> None:
    """Moves the focus to the next panel of a view, or to its middle."""
    panels = _panels_of(view)
    places = panels.visible() if panels is not None else []
    if not places:
        return
    focused = QApplication.focusWidget()
    if focused is None:
        target = places[0]
    else:
        holds = [place is focused or place.isAncestorOf(focused) for place in places]
        target = places[(holds.index(True) + 1) % len(places) if True in holds else 0]
    if target.focusPolicy() == Qt.FocusPolicy.NoFocus:
        target = next(filter(_takes_focus, target.findChildren(QWidget)), target)
    target.setFocus(Qt.FocusReason.TabFocusReason)


def _takes_focus(widget: QWidget) -> bool:
    return widget.isVisible() and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
