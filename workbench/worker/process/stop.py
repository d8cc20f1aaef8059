"""How a trainer is asked to end: by the run's control file, or by SIGTERM; and how several
machines that train together end at the same step.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from types import FrameType

from workbench.errors import RunError
from workbench.runs.control import wish_of
from workbench.runs.folder import RunFolder

Sum = Callable[[Sequence[int]], Sequence[int]]
"""What this machine says -> the sums over all machines, which must all ask at once."""


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
        self._sum: Sum | None = None
        self._leads = True
        self._is_agreed = False
        self.is_pause = False

    def listen_to_signals(self) -> None:
        """Takes SIGTERM and SIGINT for a stop. Only the main thread may call this."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._is_asked = True

    @property
    def is_on(self) -> bool:
        """True once the run should end. Cheap enough for every call of the loop.

        Of several machines: once all of them know.
        """
        return self._is_agreed if self._sum else self._wants_to_end()

    def _wants_to_end(self) -> bool:
        if not self._is_asked and (wish := wish_of(self._run)):
            self.is_pause = wish == "pause"
            self._is_asked = True
        return self._is_asked

    def barrier(self, steps: int, *, to_the_end: bool = False) -> int:
        """Before each call into TensorFlow: how many steps it shall have.

        As many as this machine wishes, or as the chief does; 0 where the run should end, unless
        `to_the_end`.
        """
        if self._sum is not None:
            steps = self._agreed(self._sum, steps)
        return 0 if self.is_on and not to_the_end else steps

    def agree_by(self, total: Sum, *, is_chief: bool) -> None:
        """From now on several machines decide together, whenever they `barrier`: else one would
        begin a call that another does not, and wait for it for ever. The length of a call that
        the chief wishes is that of all; `total` adds up three numbers.
        """
        self._sum, self._leads = total, is_chief

    def _agreed(self, total: Sum, steps: int) -> int:
        """Hears what all machines wish; returns the steps of the leading one."""
        is_asked = self._wants_to_end()
        is_pause = is_asked and self.is_pause
        stops, pauses, steps = total(
            (int(is_asked and not is_pause), int(is_pause), steps if self._leads else 0)
        )
        self._is_agreed = stops + pauses > 0
        self.is_pause = pauses > 0 and stops == 0
        return steps

    def check(self) -> None:
        """Raises StoppedError once the run should end."""
        if self.is_on:
            raise StoppedError
