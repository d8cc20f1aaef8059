"""How fast a run goes, and how long it has gone: steady figures of events that are not."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from workbench.core.checks.estimates import VALIDATION_SHARE
from workbench.core.format import clock
from workbench.protocol.events import (
    Batch,
    DataReady,
    EpochFinished,
    PhaseChanged,
    RunEvent,
    RunFinished,
    RunStarted,
    TimeSpent,
)
from workbench.runs.log.event_log import EventReader

_WINDOW_S = 20.0
"""The speed is that of so many seconds of steps: single calls differ several times over."""

EPOCHS = 9
"""The median of so many epochs is what one takes: a computer with other work stalls some."""

_SETTLES_S = 15.0
"""A countdown comes within a third of a new estimate in this time."""

_FAR_OFF = 4.0
"""An estimate so many times longer or shorter, and by more than a second, is shown at once."""


AFTER_TRAINING = frozenset({"calibrating", "comparing", "testing"})
"""What a trainer does behind the last step, once the weights are saved."""


class Pace:
    """The speed of the latest steps, over a few seconds of them."""

    def __init__(self) -> None:
        self._calls: deque[tuple[int, float]] = deque()
        self._images = 0
        self._seconds = 0.0

    def add(self, event: Batch, batch_size: int) -> None:
        """Takes the steps of an event; one that compiled, without a speed, is left out."""
        if event.images_per_second <= 0.0:
            return
        images = max(1, event.step - event.first_step + 1) * max(1, batch_size)
        self._calls.append((images, images / event.images_per_second))
        self._images += images
        self._seconds += images / event.images_per_second
        while len(self._calls) > 1 and self._seconds - self._calls[0][1] >= _WINDOW_S:
            first_images, first_s = self._calls.popleft()
            self._images -= first_images
            self._seconds -= first_s

    def clear(self) -> None:
        """Forgets the speed: another trainer begins, perhaps elsewhere, or another phase."""
        self._calls.clear()
        self._images, self._seconds = 0, 0.0

    @property
    def images_per_second(self) -> float | None:
        """None before the first steps."""
        return self._images / self._seconds if self._seconds > 0.0 else None


@dataclass(frozen=True)
class TimeLeft:
    """An estimate of how long a run will still take.

    Attributes:
        seconds: Duration of the epochs to come, with their validations.
        is_of_head: It ends where fine-tuning begins: what an epoch of that takes is not known
            before its first steps.
    """

    seconds: float
    is_of_head: bool = False


def left_words(left: TimeLeft) -> str:
    """The estimate in words: "14 min 52 s left", "7 s to fine-tuning"."""
    return f"{clock(left.seconds)} {'to fine-tuning' if left.is_of_head else 'left'}"


def phase_steps(
    step: int, total_steps: int, started: RunStarted | None, steps_per_epoch: int
) -> tuple[int, int]:
    """Steps done when the phase of the next step begins, and when it is over."""
    head = (started.fine_tuning_after or 0) * steps_per_epoch if started is not None else 0
    if not head:
        return 0, total_steps
    return (0, head) if step < head else (head, total_steps)


def time_left(
    step: int,
    total_steps: int,
    epochs: Sequence[EpochFinished],
    started: RunStarted | None,
    data: DataReady | None,
    *,
    speed: float | None,
) -> TimeLeft | None:
    """Estimates the rest of the phase that the next step belongs to; None while nothing is known.

    It goes by the latest epochs that the present trainer has made in it as a whole: an earlier
    trainer may have had another computer, or one with other work, and in another phase other layers
    are computed. Before the second of these epochs it goes by `speed`, too.

    Args:
        step: Training steps that are done.
        total_steps: Steps of the whole run.
        epochs: The finished epochs, oldest first.
        started: The run's first event; None before it is logged.
        data: What is known of the data set; None before it is loaded.
        speed: Images per second in this phase; None where unknown.
    """
    steps = data.steps_per_epoch if data is not None else 0
    first, end = phase_steps(step, total_steps, started, steps)
    resumed = (started.resumed_at_step or 0) if started is not None else 0
    begin, to_come = max(first, resumed), max(0, end - step)
    is_of_head = end < total_steps
    whole = [epoch for epoch in epochs[-EPOCHS:] if epoch.step - steps >= begin]
    # The first one compiles too; without another, the steps alone say what is to come.
    own = [epoch.seconds for epoch in whole if epoch.step - steps > begin or len(whole) == 1]
    known = [to_come * median(own) / steps] if own and steps else []
    if started is not None and speed and len(whole) < 2:
        images = to_come * started.batch_size
        if data is not None and steps:
            validations = math.ceil(to_come / steps)
            images += round(validations * data.num_validation * VALIDATION_SHARE)
        known.append(images / speed)
    return TimeLeft(min(known), is_of_head) if known else None


class Countdown:
    """Seconds left as they are shown: they count down, and follow a new estimate slowly."""

    def __init__(self) -> None:
        self._shown_s: float | None = None
        self._at = 0.0

    def clear(self) -> None:
        """Begins again with the next estimate."""
        self._shown_s = None

    def shown(self, estimate_s: float, now_s: float) -> float:
        """What to show at a moment of any clock; call it again and again."""
        if self._shown_s is None:
            self._shown_s, self._at = estimate_s, now_s
            return estimate_s
        passed_s = max(0.0, now_s - self._at)
        counted_s = max(0.0, self._shown_s - passed_s)
        if not counted_s / _FAR_OFF - 1.0 <= estimate_s <= counted_s * _FAR_OFF + 1.0:
            counted_s = estimate_s  # not what a few slow steps do
        share = 1.0 - math.exp(-passed_s / _SETTLES_S)
        self._shown_s, self._at = counted_s + share * (estimate_s - counted_s), now_s
        return self._shown_s


class RunClock:
    """Seconds that the trainers of a run have worked, by the times of its events.

    They never fall: steps that a resumed run repeats took their time, too. What a resumed
    trainer does before its first step, and the time between two trainers, does not count.
    """

    def __init__(self) -> None:
        self._first = self._last = self._idle_s = 0.0
        self._waiting_since: float | None = None
        self._after_s = 0.0
        self._after_since: float | None = None

    @property
    def is_waiting(self) -> bool:
        """True while a resumed trainer gets ready: the clock is stopped."""
        return self._waiting_since is not None

    @property
    def seconds(self) -> float:
        """Up to the latest event."""
        end = self._last if self._waiting_since is None else self._waiting_since
        return max(0.0, end - self._first - self._idle_s)

    @property
    def after_s(self) -> float:
        """How many of them were behind the last step, in calibration and test."""
        since = self._after_since
        return self._after_s + (max(0.0, self._last - since) if since is not None else 0.0)

    def saw(self, event: RunEvent, finished_s: float | None) -> None:
        """Takes the next event; `finished_s` is what the trainer before it has logged at its end,
        None where it has not ended.
        """
        is_start = isinstance(event, PhaseChanged) and event.phase == "starting"
        is_resumed = isinstance(event, RunStarted) and event.resumed_at_step is not None
        if is_start or is_resumed:
            self._after_s, self._after_since = self.after_s, None
        if isinstance(event, PhaseChanged) and event.phase in AFTER_TRAINING:
            self._after_since = self._after_since or event.time
        if not self._first:
            self._first = event.time
        elif is_start or (is_resumed and self._waiting_since is None):
            known_s = self.seconds if finished_s is None else finished_s
            self._idle_s = event.time - self._first - known_s
            self._waiting_since = event.time if is_start else None
        elif isinstance(event, RunStarted) and self._waiting_since is not None:
            self._idle_s += max(0.0, event.time - self._waiting_since)
            self._waiting_since = None
        self._last = max(self._last, event.time)


def seconds_logged(path: Path) -> float:
    """Seconds that the trainers of a run have worked, by its whole event log."""
    reader, run_clock, finished = EventReader(path), RunClock(), None
    while events := reader.read_new():
        for event in events:
            run_clock.saw(event, finished)
            finished = event.seconds if isinstance(event, RunFinished) else None
    return run_clock.seconds if finished is None else finished


def time_of_both(before: TimeSpent | None, now: TimeSpent) -> TimeSpent:
    """Time spent by a trainer and by those before it, summed; the advice is the latest."""
    if before is None:
        return now
    return TimeSpent(
        seq=now.seq,
        time=now.time,
        input_s=before.input_s + now.input_s,
        compute_s=before.compute_s + now.compute_s,
        host_s=before.host_s + now.host_s,
        compile_s=before.compile_s + now.compile_s,
        validation_s=before.validation_s + now.validation_s,
        saving_s=before.saving_s + now.saving_s,
        features_s=before.features_s + now.features_s,
        after_s=before.after_s + now.after_s,
        advice=now.advice,
    )
