"""How many findings of the data check are open, and the way to them from anywhere in the window."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class OpenFindings(QObject):
    """The findings about the open project's images that nothing was done about yet.

    Signals:
        changed(): There are more or fewer.
        wanted(): They are to be shown.

    Attributes:
        number: How many; 0 also while the images are not checked.
    """

    changed = Signal()
    wanted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number = 0

    def set_number(self, number: int) -> None:
        """Sets the number of open findings."""
        if number != self.number:
            self.number = number
            self.changed.emit()
