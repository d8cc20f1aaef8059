"""Headings between the items of a list."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QListWidgetItem

from workbench.gui.kit.fonts import heading_font


def heading_item(title: str, height_px: int) -> QListWidgetItem:
    """A line of a list that names what follows and cannot be chosen."""
    item = QListWidgetItem(title)
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    item.setFont(heading_font())
    item.setSizeHint(QSize(0, height_px))
    return item
