"""Ends or pauses a run step by step: ask, offer to terminate, kill. QtCore only."""

from __future__ import annotations

import os
import signal

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.client.background import Background
from workbench.core.storage.file_lock import has_open
from workbench.errors import RunError, SaveError, WorkbenchError
from workbench.runs.control import request_pause, request_stop, send_command
from workbench.runs.folder import RunFolder
from workbench.runs.link import has_mirror

OFFER_AFTER_S = 15.0
"""After a stop request a trainer finishes its step and saves; this is more than enough
for most networks. After it the user may choose to end it hard."""


class StopLadder(QObject):
    """One run being stopped or paused.

    Attributes:
        is_pause: A pause was requested: to keep a checkpoint and end.

    Signals:
        terminate_offered: The request was made `OFFER_AFTER_S` ago and the trainer still runs.
        failed: The request itself failed; the WorkbenchError.
    """

    terminate_offered = Signal()
    failed = Signal(object)

    def __init__(
        self,
        run: RunFolder,
        background: Background,
        parent: QObject | None = None,
        *,
        is_pause: bool = False,
    ) -> None:
        super().__init__(parent)
        self.run = run
        self.is_pause = is_pause
        self.is_offered = False
        self._background = background
        self._timer = QTimer(self, singleShot=True, interval=int(OFFER_AFTER_S * 1000))
        self._timer.timeout.connect(self._on_timeout)

    def ask(self) -> None:
        """Takes the first step: a request to finish the current step, save and end."""
        run, ask = self.run, request_pause if self.is_pause else request_stop
        self._background.run(
            lambda: ask(run, sender="the window"), lambda _none: None, self.failed.emit
        )
        self._timer.start()

    def close(self) -> None:
        """The run has ended: nothing more to offer."""
        self._timer.stop()

    def _on_timeout(self) -> None:
        self.is_offered = True
        self.terminate_offered.emit()


def end_trainer(run: RunFolder, pid: int, *, is_hard: bool) -> WorkbenchError | None:
    """Second and third step: SIGTERM, or SIGKILL where `is_hard`.

    The signal is sent only to a process that has the run's lock open: a process id alone may
    be of an earlier trainer, here or on another computer, and be reused by now. A trainer
    elsewhere is ended by the run mirror, on request: its process id is a number of another
    computer.

    Returns why it could not be done, or None.
    """
    if has_mirror(run):
        return _end_elsewhere(run, is_hard=is_hard)
    if pid <= 1 or not run.is_alive():
        return RunError("The training process has already ended.", where=str(run.path))
    if not has_open(pid, run.lock_path):
        return RunError(
            "Another training process has taken over this run.",
            where=str(run.path),
            received=f"process {pid}",
            fix="Try again in a moment.",
        )
    try:
        os.kill(pid, signal.SIGKILL if is_hard else signal.SIGTERM)
    except OSError as error:
        return RunError(
            "The training process could not be terminated.",
            where=f"process {pid}",
            received=error.strerror or str(error),
            fix="Terminate it in the system monitor.",
        )
    return None


def _end_elsewhere(run: RunFolder, *, is_hard: bool) -> WorkbenchError | None:
    if not run.is_alive():
        return RunError(
            "Not connected to the computer that trains this run.",
            where=str(run.path),
            fix="Reconnect first.",
        )
    try:
        send_command(run, "kill" if is_hard else "terminate")
    except SaveError as error:
        return error
    return None
