"""The event log of a trainer: every event of a run goes through here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from workbench.protocol.events import Batch, LogLine, PhaseChanged, RunEvent
from workbench.runs.log.event_log import E, EventWriter

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
