"""Panels of a view as docks around its middle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from workbench.gui.common.dock_widths import DockWidths, set_dock_width
from workbench.gui.common.panel_spec import PanelSpec, S
from workbench.gui.common.window_state import LAYOUT_VERSION
from workbench.gui.kit.docks import RAIL_PX, Rail, make_dock
from workbench.gui.kit.theme import Theme

_AREAS = {
    "top": Qt.DockWidgetArea.TopDockWidgetArea,
    "left": Qt.DockWidgetArea.LeftDockWidgetArea,
    "right": Qt.DockWidgetArea.RightDockWidgetArea,
    "bottom": Qt.DockWidgetArea.BottomDockWidgetArea,
}
_RAILS = {"left": Qt.ToolBarArea.LeftToolBarArea, "right": Qt.ToolBarArea.RightToolBarArea}


class Docks(QObject):
    """Makes the panels, and stores their places as QMainWindow does. Where a view is too narrow
    for all, as with large text on a small screen, those at its left fold to a rail, then those
    at its right, until there is room; one that is opened there takes the place of those at the
    other side, and so does one that is made wide by `give_width`.

    Args:
        view: The view, with its middle.
        theme: For the icons of the title bars.
        panels: Those of the view.
        state: What they share.
        middle_px: Width that the middle is to have at least.
    """

    def __init__(
        self,
        view: QMainWindow,
        theme: Theme,
        panels: Sequence[PanelSpec[S]],
        state: S,
        *,
        middle_px: int,
    ) -> None:
        super().__init__(view)
        self._view = view
        self._middle_px = middle_px
        self._folded: list[QDockWidget] = []  # hidden for lack of room
        self._from_rail: set[QDockWidget] = set()  # opened there: closed, they are there again
        self._docks: dict[str, QDockWidget] = {}
        self._least_px: dict[QDockWidget, int] = {}  # of one that others make room for
        self._aside: set[str] = set()  # hidden together by `toggle_sides`
        self._rails = {side: Rail(theme, side) for side in _RAILS}
        for side, rail in self._rails.items():
            view.addToolBar(_RAILS[side], rail)
        for spec in panels:
            # First: a panel is open when it hears of the same signal and takes the focus.
            for signal in spec.opened_by:
                getattr(state, signal).connect(lambda *_, key=spec.key: self.open(key))
            dock = make_dock(theme, spec.key, spec.title, spec.make(state))
            self._docks[spec.key] = dock
            view.addDockWidget(_AREAS[spec.area], dock)
            dock.installEventFilter(self)
            opening = dock.toggleViewAction().triggered
            opening.connect(lambda is_shown, dock=dock: self._on_toggled(dock, is_shown=is_shown))
        wide = {spec.key: spec.width_px for spec in panels if spec.width_px}
        self._widths = DockWidths(view, {key: self._docks[key] for key in wide}, middle_px)
        high = {self._docks[spec.key]: spec.height_px for spec in panels if spec.height_px}
        for key, width_px in wide.items():
            set_dock_width(view, self._docks[key], width_px)
        view.resizeDocks(list(high), list(high.values()), Qt.Orientation.Vertical)
        view.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self._view:
            self._fit()
        elif event.type() == QEvent.Type.Close and watched in self._from_rail:
            self._folded.append(watched)
            self._from_rail.remove(self._folded[-1])
            QTimer.singleShot(0, self, self._show_rails)  # once it is closed
        elif event.type() == QEvent.Type.Close and watched in self._least_px:
            QTimer.singleShot(0, self, self._fit)  # those that made room for it come back
        return super().eventFilter(watched, event)

    def _fit(self, wanted: QDockWidget | None = None) -> None:
        """Shows the panels that were folded as far as they have room, or folds some: those at the
        left first, and at last those beside the `wanted` one, which stays.
        """
        wide = next((dock for dock in self._least_px if not dock.isHidden()), None)
        wanted = wanted or wide
        for dock in [each for each in reversed(self._folded) if not each.isHidden()]:
            self._folded.remove(dock)  # opened by the user meanwhile
        while self._folded:
            last = self._folded[-1]
            side = [dock for dock in self._folded if self._area(dock) == self._area(last)]
            # All of a side need no rail, so they may have room where one beside a rail has not.
            back = next((docks for docks in (side, [last]) if self._spare_px(docks) >= 0), [])
            if not back:
                break
            for dock in back:
                self._folded.remove(dock)
                dock.show()
        others = [dock for dock in (*self._at("right"), *self._at("left")) if not dock.isHidden()]
        if wanted is not None:
            own = self._at("left" if wanted in self._at("left") else "right")
            others = [dock for dock in others if dock not in own]
        while others and self._spare_px() < 0:
            self._folded.append(others.pop())
            self._folded[-1].hide()
        self._show_rails()
        middle = self._view.centralWidget()
        if middle is not None:  # even without the panels at the other side, as with large text
            middle.setVisible(wanted is None or wanted is not wide or self._spare_px() >= 0)

    def _spare_px(self, more: Sequence[QDockWidget] = ()) -> int:
        """Width that is left when the middle and the panels beside it, and some more, are as narrow
        as they can be.
        """
        sides = 0
        for side in _RAILS:
            docks = self._at(side)
            shown = [dock for dock in docks if not dock.isHidden() or dock in more]
            least = (max(d.minimumSizeHint().width(), self._least_px.get(d, 0)) for d in shown)
            sides += max(least, default=0)
            is_folded = any(dock in self._folded and dock not in shown for dock in docks)
            sides += RAIL_PX if is_folded else 0
        middle = self._view.centralWidget()
        # A panel that has asked for room is to get it: the middle takes what it cannot do without.
        needed = middle.minimumSizeHint().width() if middle is not None and self._least_px else 0
        return self._view.width() - max(self._middle_px, needed) - sides

    def _show_rails(self) -> None:
        for side, rail in self._rails.items():
            docks = [dock for dock in self._at(side) if dock in self._folded and dock.isHidden()]
            rail.show_panels([(d.windowTitle(), partial(self._unfold, d)) for d in docks])

    def _unfold(self, dock: QDockWidget) -> None:
        self._from_rail.add(dock)
        self._open(dock)

    def _on_toggled(self, dock: QDockWidget, *, is_shown: bool) -> None:
        """Opened or closed by the menu."""
        if is_shown:
            self._open(dock)
        else:
            self._fit()

    def _at(self, side: str) -> list[QDockWidget]:
        return [
            dock
            for dock in self._docks.values()
            if not dock.isFloating() and self._area(dock) == _AREAS[side]
        ]

    def _area(self, dock: QDockWidget) -> Qt.DockWidgetArea:
        return self._view.dockWidgetArea(dock)

    def __getitem__(self, key: str) -> QWidget:
        """The panel of a key."""
        return self._docks[key].widget()

    def open(self, key: str) -> None:
        """Shows a panel, in front of those that share its place."""
        self._open(self._docks[key])

    def _open(self, dock: QDockWidget) -> None:
        dock.show()
        dock.raise_()
        self._fit(dock)
        if dock in self._least_px:
            self._widths.fit()

    def give_width(self, panel: QWidget, width_px: int, least_px: int = 0) -> None:
        """Gives a panel a width, which it keeps as far as there is room. Where that would be less
        than `least_px`, the panels at the other side fold for it, and at last the middle is
        hidden, until this is called again or the panel is closed; with 0 none gives way.
        """
        dock = next(dock for dock in self._docks.values() if dock.widget() is panel)
        self._least_px = {dock: least_px} if least_px else {}
        self._fit()
        set_dock_width(self._view, dock, width_px)

    def toggle_sides(self) -> None:
        """Hides the panels at both sides at once; if none is shown, shows those again."""
        sides = {_AREAS["left"], _AREAS["right"]}
        docks = {k: d for k, d in self._docks.items() if self._area(d) in sides}
        shown = {key for key, dock in docks.items() if not dock.isHidden()}
        for key in shown or self._aside or docks:
            docks[key].setVisible(not shown)
        self._aside = shown
        if not shown:
            self._fit()
        middle = self._view.centralWidget()
        if shown and middle is not None:
            middle.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions(self) -> list[QAction]:
        """An action for each panel that shows or hides it."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def save(self) -> QByteArray:
        """Which panels are shown, and where; those that only lack room are shown."""
        folded = [dock for dock in self._folded if dock.isHidden()]
        for dock in folded:
            dock.show()
        state = self._widths.save(bytes(self._view.saveState(LAYOUT_VERSION).data()))
        for dock in folded:
            dock.hide()
        return QByteArray(state)

    def restore(self, state: QByteArray) -> None:
        """Puts the panels to where they were saved."""
        places = self._widths.restore(bytes(state.data()))
        if self._view.restoreState(QByteArray(places), LAYOUT_VERSION):
            self._folded.clear()
            self._least_px.clear()
        self._fit()

    def show_all(self) -> None:
        """Shows every panel."""
        for dock in self._docks.values():
            dock.show()
        self._fit()

    def visible(self) -> list[QWidget]:
        """What can be seen, the middle of the view first."""
        middle = self._view.centralWidget()
        docks = [dock.widget() for dock in self._docks.values() if dock.isVisible()]
        return [middle, *docks] if middle is not None and not middle.isHidden() else docks
