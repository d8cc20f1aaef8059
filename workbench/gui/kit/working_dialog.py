"""Dialogs that work in a thread: closing one calls the work off, and waits for its end. The one of
the kit installs a part of Workbench that a message names as missing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QWidget

from workbench.client.background import Background
from workbench.errors import RunError, WorkbenchError
from workbench.gui.kit.buttons import TextButton, button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row, within_screen
from workbench.gui.kit.layout import Part as LaidOut
from workbench.gui.kit.wait_label import WaitLabel
from workbench.parts import Part, part_of, part_to_install
from workbench.processes.installing import install

T = TypeVar("T")

_INSTALL_PX = QSize(560, 300)
_LONGEST_LINE = 160


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
        self.resize(within_screen(self, size))
        self._background = Background(self, max_threads=1)
        self._called_off = threading.Event()
        self.is_closing = False
        self.status = WaitLabel()
        self.progressed.connect(self.status.wait_for)
        self.stop = button("Close")
        self.stop.clicked.connect(self.reject)

    def lay_out(self, *parts: LaidOut) -> None:
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
        """Raises RunError when the work was called off; the work calls it from time to time."""
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


class InstallDialog(WorkingDialog):
    """What a part is for, the line that installs it, and a button that runs the line.

    Signals:
        installed: The part is there.
    """

    installed = Signal()

    def __init__(self, part: Part, parent: QWidget | None = None) -> None:
        super().__init__(f"Install {part.library}", _INSTALL_PX, parent)
        self.part = part
        self.line = plain_label(part.install_command, wrap=True)
        self.line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.line.setAccessibleName("The same in a terminal")
        self.begin = button("Install", role="primary")
        self.begin.clicked.connect(self._on_begin)
        self.lay_out(
            plain_label(f"Install {part.library}", role="title"),
            plain_label(
                f"Needed for {part.purpose}. It is downloaded from the Python package index into "
                "the environment that Workbench runs in. Nothing else in it changes.",
                role="dim",
                wrap=True,
            ),
            plain_label("The same in a terminal:", role="dim"),
            self.line,
            STRETCH,
            self.status,
            row(STRETCH, self.begin, self.stop),
        )

    def _on_begin(self) -> None:
        part = self.part
        self.run(
            lambda: install(part, on_progress=self._say, check=self.check),
            lambda _none: self._on_installed(),
            "Connecting to the package index",
        )

    def _say(self, line: str) -> None:
        self.progressed.emit(line[:_LONGEST_LINE])

    def _on_installed(self) -> None:
        self.begin.hide()
        self.status.say("Installed.")
        self.installed.emit()

    def show_failure(self, error: WorkbenchError) -> None:
        """Shows a failure, without what pip printed where the first sentence gives the reason."""
        self.status.say(" ".join(f"{error.what} {error.fix}".split()), is_bad=True)
        self.status.setToolTip(error.received)

    def refresh(self) -> None:
        super().refresh()
        self.begin.setEnabled(not self._background.is_busy)

    def check(self) -> None:
        if self._called_off.is_set():
            raise RunError("Canceled. Nothing was installed.")


class InstallLink(TextButton):
    """Offers to install the part that shown words name as missing; hidden without one.

    Signals:
        installed: The part is there: what failed can be tried again.
    """

    installed = Signal()

    def __init__(self) -> None:
        super().__init__("", role="link")
        self._part: Part | None = None
        self.clicked.connect(lambda _=False: self._open())
        self.hide()

    def offer(self, words: str) -> None:
        """Shows itself where the words name a part that can be installed here."""
        self._offer(part_to_install(words))

    def offer_any(self, keys: Iterable[str]) -> None:
        """Shows itself for the first part of these keys that is known."""
        self._offer(next(filter(None, map(part_of, keys)), None))

    def _offer(self, part: Part | None) -> None:
        self._part = part
        if self._part is not None:
            self.setText(f"Install {self._part.library}…")
        self.setVisible(self._part is not None)

    def _open(self) -> None:
        if self._part is not None:
            install_part(self._part, self).installed.connect(self._on_installed)

    def _on_installed(self) -> None:
        self.hide()
        self.installed.emit()


def install_part(part: Part, parent: QWidget) -> InstallDialog:
    """Opens the dialog above the window of a widget."""
    dialog = InstallDialog(part, parent.window())
    dialog.open()
    return dialog
