"""Help, about and settings: dialogs that are made when first opened."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from workbench.gui.common.context import WindowContext
from workbench.gui.help.about import AboutDialog
from workbench.gui.help.settings_dialog import SettingsDialog
from workbench.gui.help.shortcuts import ShortcutsSheet, groups_of
from workbench.gui.help.viewer import HelpViewer
from workbench.help_pages import OVERVIEW


class HelpController(QObject):
    """Opens the window's small dialogs.

    Signals:
        restart_asked: The window shall start again, with the settings that are set now.
    """

    restart_asked = Signal()

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._window = window
        self._viewer: HelpViewer | None = None
        self._started = context.settings.settings

    def show_page(self, key: str) -> None:
        """Opens the help window at a page."""
        if self._viewer is None:
            self._viewer = HelpViewer(self._context.layers, self._context.theme, self._window)
        self._viewer.show_page(key)

    def show_layer(self, kinds: Collection[str]) -> None:
        """Opens the page of a layer type where they are all one, else the overview."""
        known = [kind for kind in kinds if kind in self._context.layers]
        self.show_page(known[0] if len(known) == 1 else OVERVIEW)

    def show_shortcuts(self, menus: list[tuple[str, list[QAction]]]) -> None:
        """Shows all keys."""
        ShortcutsSheet(groups_of(menus), self._window).exec()

    def show_about(self) -> None:
        """Shows versions and license."""
        AboutDialog(self._window).exec()

    def show_settings(self) -> None:
        """Shows the settings, made from their schema."""
        dialog = SettingsDialog(self._context, self._started, self._window)
        dialog.restart_asked.connect(self.restart_asked)
        dialog.exec()

    def keep_theme(self, mode: str) -> None:
        """Stores the chosen theme."""
        self._context.settings.change(theme=mode)
