"""What happened in a run so far, from its events: curves, epochs, progress."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.protocol.events import (
    Batch,
    BestEpoch,
    CheckpointKept,
    DataReady,
    EpochFinished,
    Heartbeat,
    LogLine,
    PhaseChanged,
    RunEvent,
    RunFinished,
    RunStarted,
    TimeSpent,
)

_FIRST_CAPACITY = 1_024
_LOG_LINES = 1_000

_LATEST = {
    CheckpointKept: "checkpoint",
    DataReady: "data",
    Heartbeat: "heartbeat",
    PhaseChanged: "phase",
    RunFinished: "finished",
    TimeSpent: "time_spent",
}
"""Events of which only the latest counts, and where it is kept."""

Column = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class TrainingProgress:
    """How far a run is.

    Attributes:
        fraction: 0..1 of all steps; 1.0 only when completed.
        eta_s: Seconds left, None while unknown.
        images_per_second: Of the last steps, None before the first.
        step, total_steps: Steps done and planned (0 while unknown).
        epoch, epochs: The epoch being trained, from 1, and how many there will be.
        elapsed_s: Since the trainer started.
    """

    fraction: float
    eta_s: float | None
    images_per_second: float | None
    step: int
    total_steps: int
    epoch: int
    epochs: int
    elapsed_s: float


class _GrowingColumns:
    """Equal-length columns that double their room when full: appending a million is cheap."""

    def __init__(self, *dtypes: type) -> None:
        self._columns: list[Column] = [np.empty(_FIRST_CAPACITY, dtype) for dtype in dtypes]
        self.size = 0

    def append(self, *values: Iterable[Any]) -> None:
        """Adds a piece to each column; all pieces have the same length."""
        pieces = [np.asarray(v, c.dtype) for v, c in zip(values, self._columns, strict=True)]
        end = self.size + len(pieces[0])
        if end > len(self._columns[0]):
            room = max(end, 2 * len(self._columns[0]))
            self._columns = [
                np.concatenate([c, np.empty(room - len(c), c.dtype)]) for c in self._columns
            ]
        for column, piece in zip(self._columns, pieces, strict=True):
            column[self.size : end] = piece
        self.size = end

    def cut(self, size: int) -> None:
        """Forgets all behind the first `size` values."""
        self.size = min(self.size, size)

    def view(self, index: int) -> Column:
        """The filled part of a column, read-only, without a copy."""
        view = self._columns[index][: self.size]
        view.flags.writeable = False
        return view


class MetricHistory:
    """Everything told in a run, ready to be drawn. Feed it each event once, in order.

    Attributes:
        started, data, phase, finished: The latest event of that kind, or None; `finished`
            is None again once the run is resumed.
        heartbeat, time_spent, checkpoint: The latest event of that kind, or None.
        epochs: All EpochFinished events.
        log: The last thousand LogLine events.
        last_time: Time of the latest event, seconds since the epoch (0.0 before any).
        last_seq: Number of the latest event, 0 before any.
        num_events: How many events were added.
    """

    def __init__(self) -> None:
        self._batches = _GrowingColumns(np.int64, np.float64, np.float64, np.float64, np.float64)
        self._last_batch: Batch | None = None
        self._first_time = 0.0
        self.started: RunStarted | None = None
        self.data: DataReady | None = None
        self.phase: PhaseChanged | None = None
        self.finished: RunFinished | None = None
        self.heartbeat: Heartbeat | None = None
        self.time_spent: TimeSpent | None = None
        self.checkpoint: CheckpointKept | None = None
        self._is_resuming = True
        self.epochs: list[EpochFinished] = []
        self.log: deque[LogLine] = deque(maxlen=_LOG_LINES)
        self.last_time = 0.0
        self.last_seq = 0
        self.num_events = 0

    def add(self, event: RunEvent) -> None:
        """Takes in one event."""
        self.num_events += 1
        self.last_time = event.time
        self.last_seq = event.seq
        if not self._first_time:
            self._first_time = event.time
        match event:
            case Batch():
                self._add_batch(event)
            case EpochFinished():
                self.epochs.append(event)
            case LogLine():
                self.log.append(event)
            case RunStarted():
                self._start(event)
            case _:
                setattr(self, _LATEST[type(event)], event)

    def add_all(self, events: Iterable[RunEvent]) -> None:
        """Takes in several events."""
        for event in events:
            self.add(event)

    def _add_batch(self, event: Batch) -> None:
        count = len(event.losses)
        steps = np.arange(event.first_step, event.first_step + count)
        # NumPy turns None into NaN in float columns.
        rates = np.full(count, np.nan if event.learning_rate is None else event.learning_rate)
        times = self._batch_times(event.time - self._first_time, count)
        self._batches.append(steps, event.losses, event.accuracies, rates, times)
        self._last_batch = event

    def _batch_times(self, now_s: float, count: int) -> Column:
        """When each batch of one event was done: spread evenly since the batch before.

        A clock that was set back must not turn the curve back.
        """
        last_s = float(self._batches.view(4)[-1]) if self._batches.size else 0.0
        now_s = max(now_s, last_s)
        start_s = last_s if self._batches.size and not self._is_resuming else now_s
        self._is_resuming = False
        return np.linspace(start_s, now_s, count + 1)[1:]

    def _start(self, event: RunStarted) -> None:
        """A trainer has begun. What a resumed one does again was told in vain before."""
        self.started = event
        self.finished = None
        self._is_resuming = True
        if event.resumed_at_step is None:
            return
        self._batches.cut(int(np.searchsorted(self.steps, event.resumed_at_step, side="right")))
        self.epochs = [epoch for epoch in self.epochs if epoch.step <= event.resumed_at_step]
        self._last_batch = None

    @property
    def steps(self) -> Column:
        """Step number of each batch, int64 (n,), from 1."""
        return self._batches.view(0)

    @property
    def losses(self) -> Column:
        """Each batch's own loss, float64 (n,); NaN where it was not finite."""
        return self._batches.view(1)

    @property
    def accuracies(self) -> Column:
        """Each batch's own accuracy 0..1, float64 (n,)."""
        return self._batches.view(2)

    @property
    def learning_rates(self) -> Column:
        """The learning rate of each batch, float64 (n,); NaN where it was not told."""
        return self._batches.view(3)

    @property
    def times(self) -> Column:
        """When each batch was done, float64 (n,): seconds since the run's first event."""
        return self._batches.view(4)

    @property
    def last_batch(self) -> Batch | None:
        """The latest Batch event."""
        return self._last_batch

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, [] before the data is there."""
        return list(self.data.class_names) if self.data else []

    @property
    def best(self) -> BestEpoch | None:
        """The best epoch so far, see `best_epoch`."""
        return best_epoch(self.epochs)

    @property
    def progress(self) -> TrainingProgress:
        """How far the run is, and how long it will still take."""
        steps_per_epoch = self.data.steps_per_epoch if self.data else 0
        epochs = self.started.epochs if self.started else 0
        total = steps_per_epoch * epochs
        step = int(self.steps[-1]) if self._batches.size else 0
        epoch = self._last_batch.epoch if self._last_batch else min(1, epochs)
        is_completed = self.finished is not None and self.finished.outcome == "completed"
        fraction = 1.0 if is_completed else min(step / total, 0.999) if total else 0.0
        return TrainingProgress(
            fraction=fraction,
            eta_s=self._eta(total - step, steps_per_epoch),
            images_per_second=self._last_batch.images_per_second if self._last_batch else None,
            step=step,
            total_steps=total,
            epoch=epoch,
            epochs=epochs,
            elapsed_s=self.elapsed_s,
        )

    @property
    def elapsed_s(self) -> float:
        """Seconds from the first to the latest event."""
        if self.finished is not None:
            return self.finished.seconds
        # A clock that was set back must not show a negative time.
        return max(0.0, self.last_time - self._first_time)

    def _eta(self, steps_left: int, steps_per_epoch: int) -> float | None:
        if self.finished is not None:
            return 0.0
        if self.epochs and steps_per_epoch:
            # Whole epochs include validation, which the steps alone do not.
            return max(0, steps_left) * self.epochs[-1].seconds / steps_per_epoch
        batch, started = self._last_batch, self.started
        if batch is None or started is None or batch.images_per_second <= 0:
            return None
        return max(0, steps_left) * started.batch_size / batch.images_per_second


def best_epoch(epochs: Iterable[EpochFinished]) -> BestEpoch | None:
    """The epoch with the highest validation accuracy; of equals the one with the lowest
    validation loss, then the earliest.

    With few validation pictures many epochs are equal, the untrained first ones too: there
    the loss tells which has learnt more. Training values decide where nothing was validated.
    """
    best: EpochFinished | None = None
    best_score = (float("-inf"), float("-inf"))
    for epoch in epochs:
        is_validated = epoch.val_accuracy is not None
        accuracy = epoch.val_accuracy if is_validated else epoch.accuracy
        loss = epoch.val_loss if is_validated else epoch.loss
        if accuracy is None:
            continue
        score = (accuracy, float("-inf") if loss is None else -loss)
        if score > best_score:
            best, best_score = epoch, score
    if best is None:
        return None
    return BestEpoch(epoch=best.epoch, val_accuracy=best.val_accuracy, val_loss=best.val_loss)
