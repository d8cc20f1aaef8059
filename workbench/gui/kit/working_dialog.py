"""A dialog that works in a thread: closing it calls the work off, and waits for its end."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from workbench.client.background import Background
from workbench.gui.kit.buttons import button
from workbench.gui.kit.wait_label import WaitLabel


class WorkingDialog(QDialog):
    """Base of dialogs whose work takes a while.

    Attributes:
        status: What is being done.
        stop: Closes the dialog, or calls off what is done.
    """

    def __init__(self, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"{title} — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._background = Background(self, max_threads=1)
        self.is_closing = False
        self.status = WaitLabel()
        self.stop = button("Close")
        self.stop.clicked.connect(self.reject)

    def call_off(self) -> None:
        """Lets the work end soon; called once, on the window's thread."""
        raise NotImplementedError

    def close_if_asked(self) -> bool:
        """The work has ended: closes where that was waited for; whether it was."""
        if self.is_closing:
            super().reject()
        return self.is_closing

    def reject(self) -> None:
        """Closes; while something is done, when that has ended."""
        if not self._background.is_busy:
            super().reject()
        elif not self.is_closing:
            self.is_closing = True
            self.call_off()
            self.stop.setEnabled(False)
            self.status.wait_for("Canceling")
