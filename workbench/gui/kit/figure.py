"""A small heading over a number."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.theme import Theme


class Figure(QWidget):
    """A small heading over a number that changes."""

    def __init__(self, theme: Theme, heading: str, width_px: int = 0) -> None:
        super().__init__()
        self.setMinimumWidth(width_px)
        self.value = plain_label("–", role="value")
        self.value.setFont(theme.font(17, weight=600, tabular=True))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(plain_label(heading, role="heading"))
        column.addWidget(self.value)
        column.addStretch(1)

    def keep_room_for(self, text: str) -> None:
        """It is as wide as this value from the start."""
        self.value.setMinimumWidth(self.value.fontMetrics().horizontalAdvance(text))
