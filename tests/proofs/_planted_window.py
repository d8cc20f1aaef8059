"""A window in use, over folders with planted links."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from tests.planted import Sandbox
from tests.proofs._planted_actions import wait_for_trainers
from workbench import app
from workbench.client.run_library import RunLibrary
from workbench.gui.shell.main_window import MainWindow
from workbench.runs.store.notes import RunNotes

_PATIENCE_S = 300.0
_LISTED_S = 10.0
"""The list is shown by then; it has no line for a run that lies deeper."""


def use_window(sandbox: Sandbox) -> str:
    """Opens the application's window, uses it and closes it; returns what it reported."""
    said: list[str] = []
    started = time.monotonic()

    def work() -> None:
        windows = [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
        is_late = bool(windows) and time.monotonic() - started > _LISTED_S
        if not is_late and not (windows and windows[0].context.library.runs):
            QTimer.singleShot(50, work)
            return
        try:
            windows[0].context.library.failed.connect(lambda error: said.append(str(error)))
            _use(windows[0], sandbox)
        finally:
            windows[0].context.document.new()
            QTimer.singleShot(0, windows[0].close)

    def answer() -> None:
        """A question at the end (a run goes on) is answered by its first button."""
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox) and box.buttons():
            said.append(box.text())
            box.buttons()[0].click()
        QTimer.singleShot(500, answer)

    application = QApplication.instance() or QApplication([])
    QTimer.singleShot(0, work)
    QTimer.singleShot(500, answer)
    app.run_window(str(sandbox.projects / "p.workbench"))
    wait_for_trainers(sandbox)
    assert application is not None
    return " ".join(said)


def _use(window: MainWindow, sandbox: Sandbox) -> None:
    library = window.context.library
    library.select(sandbox.run)
    library.rename(sandbox.run, "renamed")
    library.set_notes(sandbox.run, RunNotes(title="t", tags=["tag"], text="note"))
    _settle(library)
    library.resume(sandbox.run)
    _settle(library)
    library.stop(sandbox.run)
    _settle(library)
    wait_for_trainers(sandbox)
    window.context.document.set_title("changed")
    window.context.document.save(sandbox.projects / "p.workbench")
    window.context.settings.change(theme="dark")
    library.delete(sandbox.run)
    _settle(library)


def _settle(library: RunLibrary) -> None:
    """Waits until the library's threads have nothing more to do."""
    deadline = time.monotonic() + _PATIENCE_S
    while library._background.is_busy and time.monotonic() < deadline:
        QApplication.processEvents()
        time.sleep(0.01)
