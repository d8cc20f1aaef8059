"""Hosts of a view's panels: docks at its sides, or sections in columns; their kept sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QDockWidget,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.common.context import LAYOUT_VERSION
from workbench.gui.common.view_spec import Area, PanelSpec, S, Waits
from workbench.gui.kit.buttons import SegmentedSwitch
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import RAIL_PX, Rail, make_dock

# dock widths ---------------------------------------------------------------------------------
# Side panels get back the width they were given, once a small window that squeezed them grows.

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


# docks ---------------------------------------------------------------------------------------
# Panels of a view as docks around its middle.

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


# panel pages ---------------------------------------------------------------------------------
# Panels that share one place: pages, one in front.


class PanelPages(QWidget):
    """A switch above, one page below it.

    Args:
        titles: Key -> title of each panel.
        panels: Key -> panel.

    Attributes:
        switch: Chooses the page.
        current: Key of the page in front.
    """

    def __init__(self, titles: Mapping[str, str], panels: Mapping[str, QWidget]) -> None:
        super().__init__()
        self.switch = SegmentedSwitch([*titles.items()], is_narrow=True)
        self.switch.chosen.connect(self.show_page)
        self._pages = QStackedWidget()
        self._places = {key: self._wrapped(panel) for key, panel in panels.items()}
        self._shown = [*titles]
        self.current = ""
        column(row(self.switch, STRETCH), (self._pages, 1), parent=self, spacing=8)
        self.show_page(self._shown[0])

    def _wrapped(self, panel: QWidget) -> QWidget:
        """A page of its own: that a panel is hidden is not up to the stack."""
        page = QWidget()
        column((panel, 1), parent=page)
        self._pages.addWidget(page)
        return page

    def show_page(self, key: str) -> None:
        """Brings a panel to the front."""
        self.current = key
        self.switch.set_current(key)
        self._pages.setCurrentWidget(self._places[key])

    def set_shown(self, keys: list[str]) -> None:
        """Offers these panels alone."""
        self._shown = keys
        self.switch.set_offered(keys)
        if keys and self.current not in keys:
            self.show_page(keys[0])


# sections ------------------------------------------------------------------------------------
# Panels of a view in columns: each can be hidden, and where splitters part them, resized.

_HANDLE_PX = 12


class _Saved(msgspec.Struct):
    """Keys of the panels that the user has hidden, and the sizes in each splitter, in pixels."""

    hidden: list[str] = []
    sizes: list[list[int]] = []


class Sections(QObject):
    """Makes the panels; the view places them, area by area.

    Args:
        panels: Those of the view.
        state: What they share.
        parent: The view.
    """

    def __init__(self, panels: Sequence[PanelSpec[S]], state: S, parent: QWidget) -> None:
        super().__init__(parent)
        self._specs: dict[str, PanelSpec[Any]] = {spec.key: spec for spec in panels}
        self._panels: dict[str, QWidget] = {}
        self._actions: dict[str, QAction] = {}
        self._held: frozenset[Waits] = frozenset()
        self._groups: list[tuple[QWidget, list[QWidget]]] = []
        self._splitters: list[QSplitter] = []
        self._pages: list[tuple[PanelPages, list[str]]] = []
        for spec in panels:
            for signal in spec.opened_by:
                getattr(state, signal).connect(lambda *_, key=spec.key: self.open(key))
            self._panels[spec.key] = spec.make(state)
            action = self._actions[spec.key] = QAction(spec.title, self)
            action.setCheckable(True)
            action.setChecked(True)
            action.toggled.connect(self._show)

    def __getitem__(self, key: str) -> QWidget:
        """The panel of a key."""
        return self._panels[key]

    def open(self, key: str) -> None:
        """Shows a panel."""
        self._actions[key].setChecked(True)
        for pages, keys in self._pages:
            if key in keys:
                pages.show_page(key)

    def hold_back(self, *lacking: Waits) -> None:
        """Hides the panels that wait for one of these, shows the others that wait; touches no
        other.
        """
        if self._held == frozenset(lacking):
            return
        self._held = frozenset(lacking)
        for key, spec in self._specs.items():
            if spec.waits:
                self._panels[key].setVisible(self._is_wanted(key))
        self._show_containers()

    def _is_wanted(self, key: str) -> bool:
        return self._actions[key].isChecked() and self._specs[key].waits not in self._held

    # placing -----------------------------------------------------------------------------

    def of(self, *areas: Area) -> list[QWidget]:
        """The panels of some areas, in their order."""
        return [self._panels[key] for key, spec in self._specs.items() if spec.area in areas]

    def fill(self, column: QVBoxLayout, *areas: Area) -> None:
        """Adds the panels of some areas to a column."""
        for key, spec in self._specs.items():
            if spec.area in areas:
                column.addWidget(self._panels[key], spec.stretch)

    def splitter(self, orientation: Qt.Orientation, parts: list[QWidget]) -> QSplitter:
        """Panels, or splitters of panels, between which the user divides the room."""
        result = QSplitter(orientation)
        result.setChildrenCollapsible(False)
        result.setHandleWidth(_HANDLE_PX)
        result.setStyleSheet("QSplitter::handle { background: transparent; }")
        for part in parts:
            result.addWidget(part)
        self._splitters.append(result)
        self.group(result, parts)
        return result

    def pages(self, area: Area) -> PanelPages:
        """The panels of an area as pages of one place."""
        keys = [key for key, spec in self._specs.items() if spec.area == area]
        titles = {key: self._specs[key].title for key in keys}
        result = PanelPages(titles, {key: self._panels[key] for key in keys})
        self._pages.append((result, keys))
        self.group(result, [self._panels[key] for key in keys])
        return result

    def group(self, container: QWidget, parts: list[QWidget]) -> None:
        """Hides a container while all of its parts are hidden."""
        self._groups.append((container, parts))

    def _show(self) -> None:
        for key, panel in self._panels.items():
            panel.setVisible(self._is_wanted(key))
        self._show_containers()

    def _show_containers(self) -> None:
        for pages, keys in self._pages:
            pages.set_shown([key for key in keys if self._actions[key].isChecked()])
        for container, parts in self._groups:
            container.setHidden(all(part.isHidden() for part in parts))

    # what the window calls ---------------------------------------------------------------

    def actions(self) -> list[QAction]:
        """An action for each panel that shows or hides it."""
        return list(self._actions.values())

    def save(self) -> QByteArray:
        """Which panels are shown, and the sizes the user gave them."""
        hidden = [key for key, action in self._actions.items() if not action.isChecked()]
        sizes = [splitter.sizes() for splitter in self._splitters]
        return QByteArray(msgspec.json.encode(_Saved(hidden=hidden, sizes=sizes)))

    def restore(self, state: QByteArray) -> None:
        """Shows, hides and sizes the panels as they were saved, as far as they are known."""
        try:
            saved = msgspec.json.decode(state.data(), type=_Saved)
        except msgspec.DecodeError:
            return
        for key, action in self._actions.items():
            action.setChecked(key not in saved.hidden)
        for splitter, sizes in zip(self._splitters, saved.sizes, strict=False):
            if len(sizes) == splitter.count() and sum(sizes) > 0:
                splitter.setSizes(sizes)

    def show_all(self) -> None:
        """Shows every panel."""
        for action in self._actions.values():
            action.setChecked(True)

    def visible(self) -> list[QWidget]:
        """The panels that can be seen."""
        return [panel for panel in self._panels.values() if panel.isVisible()]
