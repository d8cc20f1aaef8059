"""Undo and redo by keys while a field has the cursor: of the typing, else of the project."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QLineEdit, QWidget

_UNDO = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)


class _UndoKeys(QObject):
    """Keeps a field from taking the keys for what is no longer typing."""

    def __init__(self, line: QLineEdit) -> None:
        super().__init__(line)
        self._line = line

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and any(event.matches(key) for key in _UNDO)
            and not self._line.isModified()
        ):
            event.ignore()
            return True
        return super().eventFilter(watched, event)


def share_undo_keys(widget: QWidget) -> None:
    """Lets Ctrl+Z in a field, or in the field inside a widget, undo the project's last step
    once its text is entered. Text that is being typed is still undone in the field.
    """
    line = widget if isinstance(widget, QLineEdit) else widget.findChild(QLineEdit)
    if line is None:
        return
    keys = _UndoKeys(line)
    line.installEventFilter(keys)
    if isinstance(widget, QAbstractSpinBox):  # it gets the event before its line does
        widget.installEventFilter(keys)
