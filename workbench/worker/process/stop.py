"""How a trainer is stopped: by the run's control file, or by SIGTERM; and how several
machines that train together end at the same step.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from types import FrameType

from workbench.errors import RunError
from workbench.runs.control import command_of, take_request
from workbench.runs.folder import RunFolder
from workbench.runs.library.median_stopping import MEDIAN_WORDS

Sum = Callable[[Sequence[int]], Sequence[int]]
"""This machine's numbers -> the sums over all machines, all of which must call it."""


class StoppedError(RunError):
    """The user has stopped the training; raised where there is nothing to save yet."""

    def __init__(self) -> None:
        super().__init__("Training was stopped before it began.")


class StopSwitch:
    """Off at first, on for good once a stop or pause was requested.

    Attributes:
        num_signals: How many signals to end have come.
        is_pause: The request is a pause: keep a checkpoint and end without a test.
        reason: Why training ends, where no person has requested it; "" otherwise.
    """

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        # No threading.Event: its lock may be held by the very code that a signal interrupts.
        self._is_requested = False
        self._sum: Sum | None = None
        self._leads = True
        self._is_agreed = False
        self.num_signals = 0
        self._before: tuple[bool, int] | None = None
        self._skips_all = False
        self.is_pause = False
        self.reason = ""

    def listen_to_signals(self) -> None:
        """Handles SIGTERM and SIGINT as a stop. Only the main thread may call this."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._is_requested = True
        self.num_signals += 1

    def begin_after(self) -> None:
        """The weights are saved. What follows can be left out: a stop from now on ends all of it,
        a request to skip one phase.
        """
        self._before = self._is_end_requested(), self.num_signals
        take_request(self._run)  # of before: it was meant for nothing that goes on now

    @property
    def ends_all(self) -> bool:
        """Whether a stop, a pause, a signal or a request to skip all has come since
        `begin_after`.
        """
        if self._before is None:
            return False
        was_on, num_signals = self._before
        is_stopped = self.num_signals > num_signals or (self._is_end_requested() and not was_on)
        return self._skips_all or is_stopped

    def takes_skip(self) -> bool:
        """Whether the phase that goes on shall be skipped; answered once for each request."""
        request = take_request(self._run)
        word = request[0] if request is not None else ""
        self._skips_all = self._skips_all or word == "skip_all"
        return word in ("skip", "skip_all")

    def request(self, reason: str) -> None:
        """Requests the end from within the trainer."""
        if not self._is_end_requested():
            self._is_requested, self.reason = True, reason

    @property
    def is_on(self) -> bool:
        """True once the run should end. Cheap enough for every call of the loop.

        Of several machines: once it is agreed among all of them.
        """
        return self._is_agreed if self._sum else self._is_end_requested()

    def _is_end_requested(self) -> bool:
        if not self._is_requested and (command := command_of(self._run)):
            self.is_pause = command == "pause"
            self.reason = MEDIAN_WORDS if command == "median" else ""
            self._is_requested = True
        return self._is_requested

    def barrier(self, steps: int, *, to_the_end: bool = False) -> int:
        """Before each call into TensorFlow: how many steps it shall have.

        As many as this machine requests, or the chief's number; 0 where the run should end, unless
        `to_the_end`.
        """
        if self._sum is not None:
            steps = self._agreed(self._sum, steps)
        return 0 if self.is_on and not to_the_end else steps

    def agree_by(self, total: Sum, *, is_chief: bool) -> None:
        """From now on several machines decide together, whenever they `barrier`: else one would
        begin a call that another does not, and wait for it for ever. The chief's
        length of a call is that of all; `total` adds up three numbers.
        """
        self._sum, self._leads = total, is_chief

    def _agreed(self, total: Sum, steps: int) -> int:
        """Exchanges the requests of all machines; returns the chief's number of steps."""
        is_requested = self._is_end_requested()
        is_pause = is_requested and self.is_pause
        stops, pauses, steps = total(
            (int(is_requested and not is_pause), int(is_pause), steps if self._leads else 0)
        )
        self._is_agreed = stops + pauses > 0
        self.is_pause = pauses > 0 and stops == 0
        return steps

    def check(self) -> None:
        """Raises StoppedError once the run should end."""
        if self.is_on:
            raise StoppedError
