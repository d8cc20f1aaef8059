"""Names for the buttons that Qt makes by itself: screen readers need them too."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

_NAMES = {
    "qt_toolbar_ext_button": "More tools",
    "qt_menubar_ext_button": "More menus",
}


def name_own_buttons(root: QWidget) -> None:
    """Names the clear buttons of lines and the overflow buttons of bars below a widget."""
    for button in root.findChildren(QToolButton):
        if button.accessibleName():
            continue
        if isinstance(button.parent(), QLineEdit):
            button.setAccessibleName("Clear")
        elif button.objectName() in _NAMES:
            button.setAccessibleName(_NAMES[button.objectName()])
