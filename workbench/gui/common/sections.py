"""Panels of a view in columns: each can be hidden, and where splitters part them, resized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from PySide6.QtCore import QByteArray, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from workbench.gui.common.panel_pages import PanelPages
from workbench.gui.common.panel_spec import Area, PanelSpec, S, Waits

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
