"""Panels of a view as docks around its middle."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from workbench.gui.common.dock_widths import DockWidths, set_dock_width
from workbench.gui.common.panel_spec import PanelSpec, S
from workbench.gui.common.window_state import LAYOUT_VERSION
from workbench.gui.kit.docks import make_dock
from workbench.gui.kit.theme import Theme

_AREAS = {
    "left": Qt.DockWidgetArea.LeftDockWidgetArea,
    "right": Qt.DockWidgetArea.RightDockWidgetArea,
    "bottom": Qt.DockWidgetArea.BottomDockWidgetArea,
}


class Docks:
    """Makes the panels, and stores their places as QMainWindow does.

    Args:
        view: The view, with its middle.
        theme: For the icons of the title bars.
        panels: Those of the view.
        state: What they share.
    """

    def __init__(
        self, view: QMainWindow, theme: Theme, panels: Sequence[PanelSpec[S]], state: S
    ) -> None:
        self._view = view
        self._docks: dict[str, QDockWidget] = {}
        self._aside: set[str] = set()  # hidden together by `toggle_sides`
        for spec in panels:
            # First: a panel is open when it hears of the same signal and takes the focus.
            for signal in spec.opened_by:
                getattr(state, signal).connect(lambda *_, key=spec.key: self.open(key))
            dock = make_dock(theme, spec.key, spec.title, spec.make(state))
            self._docks[spec.key] = dock
            view.addDockWidget(_AREAS[spec.area], dock)
        wide = {spec.key: spec.width_px for spec in panels if spec.width_px}
        self._widths = DockWidths(view, {key: self._docks[key] for key in wide})
        high = {self._docks[spec.key]: spec.height_px for spec in panels if spec.height_px}
        for key, width_px in wide.items():
            set_dock_width(view, self._docks[key], width_px)
        view.resizeDocks(list(high), list(high.values()), Qt.Orientation.Vertical)

    def __getitem__(self, key: str) -> QWidget:
        """The panel of a key."""
        return self._docks[key].widget()

    def open(self, key: str) -> None:
        """Shows a panel, in front of those that share its place."""
        self._docks[key].show()
        self._docks[key].raise_()

    def toggle_sides(self) -> None:
        """Hides the panels at both sides at once; if none is shown, shows those again."""
        sides = {_AREAS["left"], _AREAS["right"]}
        docks = {k: d for k, d in self._docks.items() if self._view.dockWidgetArea(d) in sides}
        shown = {key for key, dock in docks.items() if not dock.isHidden()}
        for key in shown or self._aside or docks:
            docks[key].setVisible(not shown)
        self._aside = shown
        middle = self._view.centralWidget()
        if shown and middle is not None:
            middle.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions(self) -> list[QAction]:
        """An action for each panel that shows or hides it."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def save(self) -> QByteArray:
        """Which panels are shown, and where."""
        return QByteArray(self._widths.save(bytes(self._view.saveState(LAYOUT_VERSION).data())))

    def restore(self, state: QByteArray) -> None:
        """Puts the panels to where they were saved."""
        places = self._widths.restore(bytes(state.data()))
        self._view.restoreState(QByteArray(places), LAYOUT_VERSION)

    def show_all(self) -> None:
        """Shows every panel."""
        for dock in self._docks.values():
            dock.show()

    def visible(self) -> list[QWidget]:
        """What can be seen, the middle of the view first."""
        middle = self._view.centralWidget()
        docks = [dock.widget() for dock in self._docks.values() if dock.isVisible()]
        return [middle, *docks] if middle is not None else docks
