"""A field in which the name of a class is edited: Enter keeps it, Escape gives up."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

_MOST_LETTERS = 200


class ClassNameField(QLineEdit):
    """Lies over the name. Leaving it keeps what was typed.

    Signals:
        named(str): The name that was typed, when it is another one.
    """

    named = Signal(str)

    def __init__(self, name: str, place: QRect, parent: QWidget) -> None:
        super().__init__(name, parent)
        self._name, self._owner = name, parent
        self._is_over = False
        self.setMaxLength(_MOST_LETTERS)
        self.setAccessibleName(f"New name of the class {name}")
        self.setGeometry(place)
        self.selectAll()
        self.returnPressed.connect(self._keep)
        self.show()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._close()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:  # its own menu
            self._keep()

    def _keep(self) -> None:
        name = " ".join(self.text().split())
        is_new = bool(name) and name != self._name and not self._is_over
        self._close()
        if is_new:
            self.named.emit(name)

    def _close(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._owner.setFocus(Qt.FocusReason.OtherFocusReason)
            self.deleteLater()
