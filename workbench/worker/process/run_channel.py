"""Channel of a trainer to its run: logged events, stop requests, and the context of
loading data.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Sequence
from types import FrameType

from workbench.errors import RunError
from workbench.protocol.events import Batch, LogLine, PhaseChanged, RunEvent
from workbench.runs.control import command_of, take_request
from workbench.runs.folder import RunFolder
from workbench.runs.home import cache_home, made_cache
from workbench.runs.library.series import MEDIAN_WORDS
from workbench.runs.log.event_log import E, EventWriter
from workbench.worker.process.lazy_keras import LazyKeras

# event logger --------------------------------------------------------------------------------
# The event log of a trainer: every event of a run goes through here.

_FRACTION_STEP = 0.01
_INTERVAL_S = 0.1
_ROOM_S = 0.5


def finite(value: float | None) -> float | None:
    """The value as JSON can hold it: None for what is not a finite number."""
    return None if value is None or not math.isfinite(value) else float(value)


class EventLogger:
    """Writes events; progress within one phase is logged at most ten times a second."""

    def __init__(self, writer: EventWriter) -> None:
        self._writer = writer
        self._listeners: list[Callable[[RunEvent], None]] = []
        self._phase = ("", "")
        self._fraction: float | None = None
        self._logged_at = 0.0

    def log(self, event: E) -> E:
        """Appends an event to the log; returns it numbered and stamped."""
        written = self._writer.write(event)
        for listener in self._listeners:
            listener(written)
        return written

    def listen(self, listener: Callable[[RunEvent], None]) -> None:
        """Calls `listener` with each event from now on, on the thread that logs it."""
        self._listeners.append(listener)

    def secure(self) -> None:
        """Waits until everything logged so far is on the disk; raises SaveError."""
        self._writer.secure()

    def wait_for_room(self, is_stopped: Callable[[], bool]) -> None:
        """Returns at once, unless too much waits for a disk that cannot be written to, and it
        is not stopped.
        """
        while self._writer.is_full and not is_stopped():
            time.sleep(_ROOM_S)
            self._writer.flush()

    def settle(self, patience_s: float) -> bool:
        """At the end: waits until all is written, but not for ever; returns whether it is."""
        deadline = time.monotonic() + patience_s
        while not self._writer.flush():
            if time.monotonic() > deadline:
                return False
            time.sleep(_ROOM_S)
        return True

    def phase(
        self, phase: str, text: str, fraction: float | None = None, *, can_skip: bool = False
    ) -> None:
        """Logs what the trainer does now; the first and the last of a phase are never lost."""
        now = time.monotonic()
        is_new = (phase, text) != self._phase
        is_last = fraction is not None and fraction >= 1.0 and self._fraction != fraction
        moved = abs((fraction or 0.0) - (self._fraction or 0.0)) >= _FRACTION_STEP
        if is_new or is_last or (moved and now - self._logged_at >= _INTERVAL_S):
            self._phase, self._fraction, self._logged_at = (phase, text), fraction, now
            self.log(PhaseChanged(phase=phase, text=text, fraction=fraction, can_skip=can_skip))

    def log_line(self, text: str, *, level: str = "info") -> None:
        """Logs a sentence for the log panel."""
        self.log(LogLine(text=text, level=level))

    def batches(
        self,
        *,
        epoch: int,
        first_step: int,
        losses: Sequence[float],
        accuracies: Sequence[float],
        images_per_second: float,
        learning_rate: float,
    ) -> None:
        """Logs the batches of one call, each with its own values."""
        self.log(
            Batch(
                epoch=epoch,
                step=first_step + len(losses) - 1,
                loss=finite(losses[-1]),
                accuracy=finite(accuracies[-1]),
                images_per_second=images_per_second,
                first_step=first_step,
                losses=[finite(_short(value)) for value in losses],
                accuracies=[finite(_short(value)) for value in accuracies],
                learning_rate=learning_rate,
            )
        )


def _short(value: float) -> float:
    """Seven digits are all that a float32 holds: the log stays half as long."""
    return float(f"{value:.7g}")


# stop ----------------------------------------------------------------------------------------
# How a trainer is stopped: by the run's control file, or by SIGTERM; and how several
# machines that train together end at the same step.

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


# load context --------------------------------------------------------------------------------
# What a data set's `load` is handed: cache folder, progress, cancellation, Keras.


class BaseLoadContext:
    """A LoadContext but for cancellation and Keras."""

    _last_progress: tuple[str, float | None] = ("", None)

    @property
    def cache_folder(self) -> str:
        """Folder for downloads and decoded images, kept between runs; made on first use."""
        return made_cache(cache_home())

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Reports what is being done; a change below a hundredth is not reported again."""
        if fraction is not None:
            fraction = round(min(max(fraction, 0.0), 1.0), 2)
        if (text, fraction) != self._last_progress:
            self._last_progress = (text, fraction)
            self._report_progress(text, fraction)

    def _report_progress(self, text: str, fraction: float | None) -> None:
        raise NotImplementedError


class TrainerLoadContext(BaseLoadContext):
    """A LoadContext that logs progress as phases of the run."""

    def __init__(self, events: EventLogger, stop: StopSwitch, lazy_keras: LazyKeras) -> None:
        self.check_cancelled = stop.check
        self.keras = lazy_keras.keras
        self._events = events

    def _report_progress(self, text: str, fraction: float | None) -> None:
        self._events.phase("loading", text, fraction)
