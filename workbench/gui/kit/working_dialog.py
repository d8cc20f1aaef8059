"""A dialog that works in a thread: closing it calls the work off, and waits for its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QWidget

from workbench.client.background import Background
from workbench.errors import RunError, WorkbenchError
from workbench.gui.kit.buttons import button
from workbench.gui.kit.layout import Part, column
from workbench.gui.kit.wait_label import WaitLabel

T = TypeVar("T")


class WorkingDialog(QDialog):
    """Base of dialogs whose work takes a while.

    Signals:
        progressed: What is being done; may come from another thread.

    Attributes:
        status: What is being done.
        stop: Closes the dialog, or calls off what is done.
    """

    progressed = Signal(str)

    def __init__(self, title: str, size: QSize, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"{title} — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(size.boundedTo(self.screen().availableSize()))
        self._background = Background(self, max_threads=1)
        self._called_off = threading.Event()
        self.is_closing = False
        self.status = WaitLabel()
        self.progressed.connect(self.status.wait_for)
        self.stop = button("Close")
        self.stop.clicked.connect(self.reject)

    def lay_out(self, *parts: Part) -> None:
        """Puts the parts of the dialog below each other."""
        column(*parts, parent=self, margins=(20, 18, 20, 16), spacing=12)

    # the work ------------------------------------------------------------------------

    def run(self, work: Callable[[], T], on_done: Callable[[T], None], words: str) -> None:
        """Works in the thread; `on_done` gets the result unless the dialog is closing by then."""
        self._called_off.clear()
        self._background.run(work, lambda result: self._on_done(on_done, result), self._on_failed)
        self.status.wait_for(words)
        self.refresh()

    def check(self) -> None:
        """For the work to ask from time to time; raises RunError when it was called off."""
        if self._called_off.is_set():
            raise RunError("Canceled.")

    def call_off(self) -> None:
        """Lets the work end soon; called once, on the window's thread."""
        self._called_off.set()

    def refresh(self) -> None:
        """Shows what can be done now."""
        self.stop.setText("Cancel" if self._background.is_busy else "Close")

    def show_failure(self, error: WorkbenchError) -> None:
        """Says why the work has failed."""
        self.status.say(" ".join(str(error).split()), is_bad=True)

    def _on_done(self, on_done: Callable[[T], None], result: T) -> None:
        self.status.say("")
        if not self._close_if_asked():
            on_done(result)
            self.refresh()

    def _on_failed(self, error: WorkbenchError) -> None:
        self.show_failure(error)
        self.refresh()
        self._close_if_asked()

    def _close_if_asked(self) -> bool:
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
