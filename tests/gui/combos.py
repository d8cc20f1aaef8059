"""What a person reads on a combo box."""

from __future__ import annotations

from PySide6.QtWidgets import QStyleOptionComboBox


def shown_text(box) -> str:
    """The words of a combo box as they are drawn."""
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    return option.currentText
