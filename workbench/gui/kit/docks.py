"""Docks with a slim title: a side panel that can be moved, closed and brought back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QScrollArea, QWidget

from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme


def make_dock(theme: Theme, key: str, title: str, panel: QWidget) -> QDockWidget:
    """A dock around a panel; `key` is its object name, under which its place is stored."""
    dock = QDockWidget(title)
    dock.setObjectName(key)
    dock.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
    on_panel(panel)
    dock.setWidget(panel)
    dock.setTitleBarWidget(_title_bar(theme, dock, title))
    return dock


def on_panel(widget: QWidget) -> None:
    """Gives a widget, and the page of a scroll area, the ground of a panel."""
    page = widget.widget() if isinstance(widget, QScrollArea) else None
    for ground in (widget, page):
        if ground is None:
            continue
        ground.setProperty("role", "panel")
        ground.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)


def _title_bar(theme: Theme, dock: QDockWidget, title: str) -> QWidget:
    bar = QWidget()
    on_panel(bar)
    close = IconButton(theme, "close", f"Close panel {title}", size_px=12)
    close.clicked.connect(dock.close)
    row((plain_label(title, role="heading"), 1), close, parent=bar, margins=(14, 8, 6, 0))
    return bar
