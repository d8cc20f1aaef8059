"""What happened in a run so far, from its events: curves, epochs, progress."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.coach import all_coach_rules
from workbench.core.coach import Floats, RunRecord, verdict_on
from workbench.core.training.progress_rules import BestSoFar
from workbench.curves import CurveSpec
from workbench.curves.accuracy import SPEC as ACCURACY
from workbench.curves.loss import SPEC as LOSS
from workbench.protocol.events import (
    Batch,
    BestEpoch,
    CheckpointKept,
    DataReady,
    EpochFinished,
    Heartbeat,
    LayersMeasured,
    LogLine,
    PhaseChanged,
    RunEvent,
    RunFinished,
    RunStarted,
    TimeSpent,
)
from workbench.runs.log.curve_columns import Column, CurveColumns, Series
from workbench.runs.log.event_log import complete_lines, decode_line
from workbench.runs.log.pace import (
    AFTER_TRAINING,
    Pace,
    RunClock,
    TimeLeft,
    phase_steps,
    time_left,
    time_of_both,
)

# epoch record --------------------------------------------------------------------------------
# What finished epochs show by themselves, as the rules of the training coach look at it.


def record_of_epochs(epochs: Sequence[EpochFinished], data: DataReady | None) -> RunRecord:
    """What finished epochs show by themselves. Where only every few of them are validated, the
    others are left out: the rules compare training with validation.
    """
    validated = [epoch for epoch in epochs if epoch.val_accuracy is not None]
    epochs = validated or epochs
    record = RunRecord(
        epochs=np.array([epoch.epoch for epoch in epochs], np.int64),
        loss=_column([epoch.loss for epoch in epochs]),
        accuracy=_column([epoch.accuracy for epoch in epochs]),
        val_loss=_column([epoch.val_loss for epoch in epochs]),
        val_accuracy=_column([epoch.val_accuracy for epoch in epochs]),
        rates=_column([epoch.learning_rate for epoch in epochs]),
        epoch_steps=np.array([epoch.step for epoch in epochs], np.int64),
    )
    if data is None:
        return record
    return replace(
        record,
        class_names=tuple(data.class_names),
        num_train=data.num_train,
        num_validation=data.num_validation,
        num_shared=data.num_shared,
        per_class=np.array(data.per_class, np.int64).reshape(-1, 3),
    )


def or_nan(value: float | None) -> float:
    """A value of a log as a number: None is NaN."""
    return math.nan if value is None else value


def _column(values: Sequence[float | None]) -> Floats:
    return np.array([or_nan(value) for value in values], np.float64)


# verdict -------------------------------------------------------------------------------------
# The verdict on how a run learns: the gravest of what the rules of the training coach see in its
# epochs; "" for a healthy one.

_TAGS = tuple(
    f'{{"event":"{tag}"'.encode() for tag in ("run_started", "epoch_finished", "data_ready")
)


def verdict(epochs: Sequence[EpochFinished], data: DataReady | None) -> str:
    """What is wrong, in a sentence without a full stop; the gravest where it is several."""
    if not epochs or data is None:
        return ""
    return verdict_on(record_of_epochs(epochs, data), all_coach_rules().values())


def logged_verdict(path: Path) -> str:
    """The verdict on a run by its event log; epochs that a resumed trainer has made void do not
    count.
    """
    data: DataReady | None = None
    epochs: list[EpochFinished] = []
    for line in complete_lines(path):
        event = decode_line(line) if line.startswith(_TAGS) else None
        if isinstance(event, DataReady):
            data = event
        elif isinstance(event, EpochFinished):
            epochs = [epoch for epoch in epochs if epoch.epoch < event.epoch] + [event]
        elif isinstance(event, RunStarted) and event.resumed_at_step is not None:
            epochs = [epoch for epoch in epochs if epoch.step <= event.resumed_at_step]
    return verdict(epochs, data)


# history -------------------------------------------------------------------------------------

_LOG_LINES = 1_000

_LATEST = {
    CheckpointKept: "checkpoint",
    DataReady: "data",
    Heartbeat: "heartbeat",
    RunFinished: "finished",
}
"""Events of which only the latest counts, and where it is kept."""

_PREPARING = frozenset({"building", "features"})
"""What a trainer does before the first step of a phase."""

UNSAVED = "unsaved"
"""Phase of a trainer that holds the weights in memory: there is no room for them."""

_IN_STEPS = frozenset({"training", "validating"})
_LEAST_KNOWN, _LEAST_KNOWN_S = 0.02, 1.0
"""Share of a phase, and its seconds, that have to be over before it says what the rest takes."""

_SHORTEST_LEFT_S = 1.0


@dataclass(frozen=True)
class PhaseProgress:
    """How far a phase is that is no part of an epoch.

    Attributes:
        fraction: 0..1.
        left_s: Seconds it will still take; None while unknown.
    """

    fraction: float
    left_s: float | None = None


@dataclass(frozen=True)
class TrainingProgress:
    """How far a run is.

    Attributes:
        fraction: 0..1 of all steps; 1.0 only when completed.
        left: How long it will still take, None while unknown: before the first steps of each
            trainer, and of each phase.
        images_per_second: Over the last 20 s of steps, None before the first.
        step, total_steps: Steps done and planned (0 while unknown).
        epoch, epochs: The epoch being trained, from 1, and how many there will be.
        elapsed_s: Seconds that its trainers have worked.
    """

    fraction: float
    left: TimeLeft | None
    images_per_second: float | None
    step: int
    total_steps: int
    epoch: int
    epochs: int
    elapsed_s: float


class MetricHistory:
    """Everything logged in a run, ready to be drawn. Feed it each event once, in order.

    Attributes:
        started, data, phase, finished: The latest event of that kind, or None; `finished`
            is None again once the run is resumed.
        heartbeat, checkpoint, last_batch: The latest event of that kind, or None.
        layers: All LayersMeasured events.
        time_spent: Where the time of all trainers of the run went, or None.
        epochs: All EpochFinished events.
        log: The last thousand LogLine events.
        last_time: Time of the latest event, seconds since the epoch (0.0 before any).
        last_seq: Number of the latest event, 0 before any.
        num_events: How many events were added.
        num_rewinds: How often the run was resumed: its curves were cut then and may differ
            from there on, so what was made from them must be made again.
        curves: The columns of all curves.
    """

    def __init__(self) -> None:
        self.curves = CurveColumns()
        self.last_batch: Batch | None = None
        self._first_time = 0.0
        self.started: RunStarted | None = None
        self.data: DataReady | None = None
        self.phase: PhaseChanged | None = None
        self.finished: RunFinished | None = None
        self.heartbeat: Heartbeat | None = None
        self.time_spent: TimeSpent | None = None
        self.checkpoint: CheckpointKept | None = None
        self._spent_before: TimeSpent | None = None
        self._clock = RunClock()
        self._pace = Pace()
        self._pause_s = 0.0
        self._phase_begun: tuple[str, float, float] = ("", 0.0, 0.0)
        self.num_rewinds = 0
        self.epochs: list[EpochFinished] = []
        self.layers: list[LayersMeasured] = []
        self._best: BestSoFar[EpochFinished] = BestSoFar("val_accuracy")
        self.log: deque[LogLine] = deque(maxlen=_LOG_LINES)
        self.last_time = 0.0
        self.last_seq = 0
        self.num_events = 0

    def add(self, event: RunEvent) -> None:
        """Adds one event."""
        self._count(event)
        match event:
            case Batch():
                self._add_batches([event])
            case EpochFinished():
                self._add_epoch(event)
            case LayersMeasured():
                self.layers = [each for each in self.layers if each.epoch < event.epoch] + [event]
            case LogLine():
                self.log.append(event)
            case RunStarted():
                self._start(event)
            case PhaseChanged():
                self._enter_phase(event)
            case TimeSpent():
                self.time_spent = time_of_both(self._spent_before, event)
            case _:
                setattr(self, _LATEST[type(event)], event)

    def add_all(self, events: Iterable[RunEvent]) -> None:
        """Adds several events; consecutive batches at once."""
        batches: list[Batch] = []
        for event in events:
            if isinstance(event, Batch):
                self._count(event)
                batches.append(event)
                continue
            self._add_batches(batches)
            batches = []
            self.add(event)
        self._add_batches(batches)

    def _add_epoch(self, event: EpochFinished) -> None:
        # One that was logged, but not kept before the trainer was killed, is logged again.
        if self.epochs and self.epochs[-1].epoch >= event.epoch:
            self.epochs = [epoch for epoch in self.epochs if epoch.epoch < event.epoch]
            self._judge(self._best.keep_by)
        self.epochs.append(event)
        self.curves.add_epoch(event)
        self._best.took(event)

    def _enter_phase(self, event: PhaseChanged) -> None:
        name, _, _ = self._phase_begun
        before = self.phase.fraction if self.phase is not None else None
        if event.phase != name or (event.fraction or 0.0) < (before or 0.0):
            self._phase_begun = (event.phase, event.time, event.fraction or 0.0)
        self.phase = event

    def _judge(self, keep_by: str) -> None:
        """Finds the best of the epochs again: some are void, or `keep_by` has changed."""
        self._best = BestSoFar(keep_by)
        for epoch in self.epochs:
            self._best.took(epoch)

    def _count(self, event: RunEvent) -> None:
        self.num_events += 1
        self._clock.saw(event, self.finished.seconds if self.finished else None)
        if isinstance(event, PhaseChanged) and event.phase == "starting" and self.last_time:
            self._pause_s += max(0.0, event.time - self.last_time)  # until RunStarted corrects it
        self.last_time = event.time
        self.last_seq = event.seq
        # What comes behind a finish is of a trainer that went on.
        self.finished = None
        if not self._first_time:
            self._first_time = event.time

    def _add_batches(self, events: list[Batch]) -> None:
        if not events:
            return
        self.curves.add_batches(events, self._times_of(events))
        size = self.started.batch_size if self.started else 0
        for event in events:
            if self._begins_fine_tuning(event):
                self._pace.clear()
            self._pace.add(event, size)
        self.last_batch = events[-1]

    def _begins_fine_tuning(self, event: Batch) -> bool:
        after = self.started.fine_tuning_after if self.started is not None else None
        return bool(after) and event.first_step - 1 == (after or 0) * self.steps_per_epoch

    def _times_of(self, events: list[Batch]) -> Column:
        """Each event's end in seconds, without pauses; never falling, though clocks may be."""
        times = np.array([event.time for event in events]) - self._first_time
        return np.maximum.accumulate(np.maximum(times - self._pause_s, self._last_s()))

    def _start(self, event: RunStarted) -> None:
        """A trainer has begun. Steps that a resumed one repeats are void in the log before it."""
        self.started = event
        if event.resumed_at_step is None:
            self._judge(event.keep_by)
            return
        self.num_rewinds += 1
        self.curves.cut(event.resumed_at_step)
        self.epochs = [epoch for epoch in self.epochs if epoch.step <= event.resumed_at_step]
        self.layers = [each for each in self.layers if each.step <= event.resumed_at_step]
        self._judge(event.keep_by)
        self.last_batch = None
        self._spent_before = self.time_spent
        self._pace.clear()
        self._pause_s = max(0.0, event.time - self._first_time - self._last_s())

    def _last_s(self) -> float:
        """Seconds of training until the latest Batch event."""
        times = self.curves.batch_times
        return float(times[-1]) if len(times) else 0.0

    def series(self, curve: CurveSpec) -> Series:
        """A curve up to now. Its arrays are views: nothing is copied."""
        steps, values = self.curves.points(curve)
        best = None if curve.is_plain else self.best
        return Series(
            steps=steps,
            values=values,
            epochs=self.curves.epochs,
            epoch_steps=self.curves.epoch_steps,
            epoch_train=self.curves.epoch_values(curve),
            epoch_validation=self.curves.epoch_values(curve, is_validation=True),
            best_epoch=best.epoch if best else 0,
            best_by=self.started.keep_by if self.started else "val_accuracy",
            fine_tuning_after=self.started.fine_tuning_after if self.started else None,
            is_on_test=self.is_validated_on_test,
            steps_per_epoch=self.steps_per_epoch,
            rewinds=self.num_rewinds,
        )

    @property
    def verdict(self) -> str:
        """What is wrong with how it learns, in words; "" where nothing is."""
        return verdict(self.epochs, self.data)

    @property
    def is_validated_on_test(self) -> bool:
        """Whether the validation images are the test images."""
        return self.data is not None and self.data.validates_on_test

    @property
    def steps_per_epoch(self) -> int:
        """Steps of an epoch, 0 while unknown."""
        return self.data.steps_per_epoch if self.data else 0

    @property
    def steps(self) -> Column:
        """Number of each step, int32 (n,), from 1."""
        return self.curves.steps

    @property
    def losses(self) -> Column:
        """Each batch's own loss, float32 (n,); NaN where it was not finite."""
        return self.curves.values(LOSS)

    @property
    def accuracies(self) -> Column:
        """Each batch's own accuracy 0..1, float32 (n,)."""
        return self.curves.values(ACCURACY)

    @property
    def times(self) -> Column:
        """When each step was done, float64 (n,), in seconds as `curves.batch_times`: the steps
        of one event are spread evenly since the event before.
        """
        if not len(self.curves.batch_steps):
            return np.zeros(len(self.steps))
        return np.interp(self.steps, self.curves.batch_steps, self.curves.batch_times)

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, [] before the data is there."""
        return list(self.data.class_names) if self.data else []

    @property
    def best(self) -> BestEpoch | None:
        """The best epoch so far by the recipe's `keep_by`; of a run that is over, the trainer's."""
        if self.finished is not None and self.finished.best is not None:
            return self.finished.best
        return BestEpoch.of(self._best.epoch) if self._best.epoch is not None else None

    @property
    def progress(self) -> TrainingProgress:
        """How far the run is, and how long it will still take."""
        epochs = self.started.epochs if self.started else 0
        total = self.steps_per_epoch * epochs
        step = int(self.steps[-1]) if len(self.steps) else 0
        epoch = self.last_batch.epoch if self.last_batch else min(1, epochs)
        is_completed = self.finished is not None and self.finished.outcome == "completed"
        fraction = 1.0 if is_completed else min(step / total, 0.999) if total else 0.0
        return TrainingProgress(
            fraction=fraction,
            left=self._left(step, total),
            images_per_second=self._pace.images_per_second,
            step=step,
            total_steps=total,
            epoch=epoch,
            epochs=epochs,
            elapsed_s=self.elapsed_s,
        )

    @property
    def is_after_training(self) -> bool:
        """Whether the last step is done and the weights are saved, but more is found out."""
        phase = self.phase.phase if self.phase is not None else ""
        return self.finished is None and phase in AFTER_TRAINING

    @property
    def is_unsaved(self) -> bool:
        """Whether the last step is done, and there is no room for the weights."""
        return self.finished is None and self.phase is not None and self.phase.phase == UNSAVED

    @property
    def phase_progress(self) -> PhaseProgress | None:
        """How far what goes on beside the epochs is; None in an epoch, and where it is unknown."""
        phase = self.phase
        if self.finished is not None or phase is None or phase.phase in _IN_STEPS:
            return None
        if phase.fraction is None:
            return None
        _, begun, first = self._phase_begun
        done, took_s = phase.fraction - first, phase.time - begun
        is_known = done >= _LEAST_KNOWN and took_s >= _LEAST_KNOWN_S
        left_s = took_s * (1.0 - phase.fraction) / done if is_known else 0.0
        return PhaseProgress(phase.fraction, left_s if left_s >= _SHORTEST_LEFT_S else None)

    @property
    def elapsed_s(self) -> float:
        """Seconds that the trainers of the run have worked; never falling while it goes on."""
        return self._clock.seconds if self.finished is None else self.finished.seconds

    @property
    def after_s(self) -> float:
        """How many of them were behind the last step, in calibration and test."""
        return min(self._clock.after_s, self.elapsed_s)

    @property
    def training_s(self) -> float:
        """How many of them were before that: what the training itself has taken."""
        return self.elapsed_s - self.after_s

    @property
    def images_per_second(self) -> float | None:
        """The speed wherever a run has one figure for it: of its last epoch once it is over, else
        of the latest steps; None before the first.
        """
        last = self.epochs[-1].images_per_second if self.epochs else None
        if self.finished is not None:
            return last or self._pace.images_per_second
        return self._pace.images_per_second or last

    @property
    def is_resuming(self) -> bool:
        """Whether a resumed trainer gets ready for its first step: `elapsed_s` stands still."""
        return self._clock.is_waiting

    def _left(self, step: int, total: int) -> TimeLeft | None:
        if self.finished is not None:
            return TimeLeft(0.0)
        is_preparing = self.phase is not None and self.phase.phase in _PREPARING
        is_through = self.is_after_training or self.is_unsaved
        if self.is_resuming or is_preparing or is_through:
            return None  # a countdown would go on while no step is made
        begin, _ = phase_steps(step, total, self.started, self.steps_per_epoch)
        # The latest speed is that of the phase before while no step of this one is made.
        speed = self._pace.images_per_second if step > begin else None
        return time_left(step, total, self.epochs, self.started, self.data, speed=speed)
