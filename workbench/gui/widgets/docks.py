"""Docks with a slim title: a side panel that can be moved, closed and brought back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QWidget

from workbench.gui.theme import Theme
from workbench.gui.widgets.buttons import IconButton
from workbench.gui.widgets.labels import plain_label


def make_dock(theme: Theme, key: str, title: str, panel: QWidget) -> QDockWidget:
    """A dock around a panel.

    Args:
        theme: For the icon of its close button.
        key: Its object name, under which its place is stored; never changes.
        title: Words in its title and in View > Panels.
        panel: What it shows.
    """
    dock = QDockWidget(title)
    dock.setObjectName(key)
    dock.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
    dock.setWidget(panel)
    dock.setTitleBarWidget(_title_bar(theme, dock, title))
    return dock


def _title_bar(theme: Theme, dock: QDockWidget, title: str) -> QWidget:
    bar = QWidget()
    row = QHBoxLayout(bar)
    row.setContentsMargins(14, 8, 6, 0)
    row.addWidget(plain_label(title, role="heading"), 1)
    close = IconButton(theme, "close", f"Close the panel {title}", size_px=12)
    close.clicked.connect(dock.close)
    row.addWidget(close)
    return bar
