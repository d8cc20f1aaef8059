"""How a trainer is asked to end: by the run's control file, or by SIGTERM."""

from __future__ import annotations

import signal
from types import FrameType

from workbench.errors import RunError
from workbench.runs.control import wish_of
from workbench.runs.folder import RunFolder


class StoppedError(RunError):
    """The user has asked to stop; raised where there is nothing to save yet."""

    def __init__(self) -> None:
        super().__init__("Training was stopped before it began.")


class StopSwitch:
    """Off at first, on for good once anybody has asked.

    Attributes:
        is_pause: It was asked to pause: to keep a checkpoint and end without a test.
    """

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        # No threading.Event: its lock may be held by the very code that a signal interrupts.
        self._is_asked = False
        self.is_pause = False

    def listen_to_signals(self) -> None:
        """Takes SIGTERM and SIGINT for a stop. Only the main thread may call this."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._is_asked = True

    @property
    def is_on(self) -> bool:
        """True once the run should end. Cheap enough for every call of the loop."""
        if not self._is_asked and (wish := wish_of(self._run)):
            self.is_pause = wish == "pause"
            self._is_asked = True
        return self._is_asked

    def check(self) -> None:
        """Raises StoppedError once the run should end."""
        if self.is_on:
            raise StoppedError
