"""The curves of a run as growing columns: a value a step, a Batch event, or an epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from workbench.curves import CurveSpec, all_curves
from workbench.protocol.events import Batch, EpochFinished
from workbench.runs.log.texts import metric_words

# columns -------------------------------------------------------------------------------------
# Growing arrays side by side: a million values in as many bytes as their types need.

Column: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class GrowingColumns:
    """Equal-length columns that double their room when full: appending a million is cheap.

    Args:
        dtypes: NumPy type of each column, by name.
        room: Rows at first; memory that no value has reached is not touched, so not provided.
    """

    def __init__(self, dtypes: Mapping[str, type], room: int) -> None:
        self._room = room
        self._columns: dict[str, Column] = {
            name: np.empty(room, dtype) for name, dtype in dtypes.items()
        }
        self.size = 0

    def append(self, pieces: Mapping[str, Iterable[Any]]) -> None:
        """Adds a piece to each column; all pieces have the same length. None becomes NaN."""
        columns = self._columns.items()
        with np.errstate(over="ignore"):  # of a log from elsewhere: beyond float32 is infinite
            arrays = {name: np.asarray(pieces[name], column.dtype) for name, column in columns}
        end = self.size + len(next(iter(arrays.values())))
        for name, piece in arrays.items():
            if end > len(self._columns[name]):
                self._grow(name, max(end, 2 * self.size))
            self._columns[name][self.size : end] = piece
        self.size = end

    def _grow(self, name: str, room: int) -> None:
        # One column after the other, so that only one of them is there twice at a time.
        column = self._columns[name]
        grown = self._columns[name] = np.empty(room, column.dtype)
        grown[: self.size] = column[: self.size]

    def cut(self, size: int) -> None:
        """Keeps `size` values; the rest moves to new arrays: what is drawn keeps its values."""
        if size >= self.size:
            return
        self.size = size
        for name, column in self._columns.items():
            room = np.empty(self._room, column.dtype)
            self._columns[name] = np.concatenate([column[:size], room])

    def view(self, name: str) -> Column:
        """The filled part of a column, read-only, without a copy."""
        view = self._columns[name][: self.size]
        view.flags.writeable = False
        return view


# series --------------------------------------------------------------------------------------
# One curve of a run up to now, and its exact values at a step.


def _empty() -> Column:
    return np.empty(0, dtype=np.float64)


@dataclass(frozen=True)
class Series:
    """One curve of one run. NaN is "not finite" and "not measured".

    Attributes:
        steps: Step of each value, rising.
        values: The value at each of these steps.
        epochs: Number of each finished epoch, rising.
        epoch_steps: Last step of each finished epoch.
        epoch_train: The value of each finished epoch.
        epoch_validation: The value on the validation images after each epoch.
        best_epoch: Number of the best epoch so far, 0 when there is none.
        fine_tuning_after: Epochs before the fine-tuning phase; None where there is none.
        best_by: The recipe's `keep_by`, which decides on the best epoch.
        is_on_test: The validation images are the test images.
        steps_per_epoch: 0 while it is unknown.
        rewinds: How often the run was resumed: with another number the values may differ
            from those given before.
    """

    steps: Column = field(default_factory=_empty)
    values: Column = field(default_factory=_empty)
    epochs: Column = field(default_factory=_empty)
    epoch_steps: Column = field(default_factory=_empty)
    epoch_train: Column = field(default_factory=_empty)
    epoch_validation: Column = field(default_factory=_empty)
    best_epoch: int = 0
    fine_tuning_after: int | None = None
    best_by: str = "val_accuracy"
    is_on_test: bool = False
    steps_per_epoch: int = 0
    rewinds: int = 0

    @property
    def last_step(self) -> float:
        """The last step that has a value; 0.0 where there is none."""
        ends = [float(steps[-1]) for steps in (self.steps, self.epoch_steps) if len(steps)]
        return max(ends, default=0.0)

    @property
    def best_words(self) -> str:
        """The label of the best epoch: which metric, which epoch."""
        is_validated = bool(np.isfinite(self.epoch_validation).any())
        metric = metric_words(self.best_by, is_validated=is_validated, is_on_test=self.is_on_test)
        return f"{metric}: epoch {self.best_epoch:,}"

    @property
    def fine_tuning_step(self) -> float | None:
        """The last step before fine-tuning; None where there is none, or it is not known yet."""
        after = self.fine_tuning_after
        return float(after * self.steps_per_epoch) if after and self.steps_per_epoch else None

    def values_before_gap(self, steps: Column) -> int:
        """How many of these rising steps are before the epochs of the head that were left out; 0
        where none were, or fine-tuning has not begun.
        """
        after, last = self.fine_tuning_after or 0, self.fine_tuning_step
        head = int(np.searchsorted(self.epochs, after, side="right"))
        if last is None or not head or int(self.epochs[head - 1]) == after:
            return 0
        # A needle of the array's own type: a float would copy a million integers first.
        at = int(np.searchsorted(steps, steps.dtype.type(last), side="right"))
        return at if at < len(steps) else 0

    @property
    def best_step(self) -> float | None:
        """Last step of the best epoch; None where there is none."""
        at = np.flatnonzero(self.epochs == self.best_epoch)
        return float(self.epoch_steps[int(at[0])]) if self.best_epoch and len(at) else None

    def best_point(self, curve: CurveSpec) -> tuple[float, float] | None:
        """Step and value of the best epoch where it is this curve that decides on it: its value
        on validation, or in training where that decides or none was validated.
        """
        step = self.best_step
        if step is None:
            return None
        is_validated = bool(np.isfinite(self.epoch_validation).any())
        is_by_validation = self.best_by == curve.validation_column
        if not is_by_validation and self.best_by != curve.key:
            return None
        values = self.epoch_validation if is_by_validation and is_validated else self.epoch_train
        return step, float(values[int(np.flatnonzero(self.epochs == self.best_epoch)[0])])


@dataclass(frozen=True)
class Reading:
    """The exact values nearest to a place of the x axis; None where there is none.

    Attributes:
        epoch, step: Those of the training value; the epoch may still be running then.
        train: The value of that step, or the mean of the epoch.
        validation: The value on the validation images after `validation_epoch`.
        validation_epoch: The epoch whose end is the nearest, 0 where none is finished.
    """

    epoch: int
    step: int
    train: float | None
    validation: float | None
    validation_epoch: int = 0


def _value(values: Column, index: int) -> float | None:
    if not 0 <= index < len(values) or not np.isfinite(values[index]):
        return None
    return float(values[index])


def _nearest(rising: Column, step: float) -> int:
    is_whole = rising.dtype.kind == "i"
    needle = np.clip(step, -1e9, 2e9) if is_whole else step
    right = int(np.searchsorted(rising, rising.dtype.type(needle)))
    near = [i for i in (right - 1, right, right + 1) if 0 <= i < len(rising)]
    return min(near, key=lambda i: abs(float(rising[i]) - step))


def read_at(series: Series, step: float, *, by_epoch: bool = False) -> Reading | None:
    """The training value at the step nearest to `step`, or of the epoch whose end is the nearest
    to it; and the validation value of the epoch whose end is the nearest.
    """
    ends = series.epoch_steps
    end = _nearest(ends, step) if len(ends) else None
    if by_epoch:
        if end is None:
            return None
        train, found, index = _value(series.epoch_train, end), int(ends[end]), end
    else:
        if len(series.steps) == 0:
            return None
        at = _nearest(series.steps, step)
        train, found = _value(series.values, at), int(series.steps[at])
        index = int(np.searchsorted(ends, found))
    epoch = epoch_at(series, index)
    if end is None:
        return Reading(epoch, found, train, None)
    return Reading(epoch, found, train, _value(series.epoch_validation, end), epoch_at(series, end))


def epoch_at(series: Series, index: int) -> int:
    """Number of the epoch at a place of `epochs`; the one being trained behind the last."""
    if index < len(series.epochs):
        return int(series.epochs[index])
    return int(series.epochs[-1]) + 1 if len(series.epochs) else 1


# curve columns -------------------------------------------------------------------------------

_STEP, _TIME, _EPOCH = ".step", ".time", ".epoch"  # no key of a curve has a dot
_VALIDATION = ".validation"
_ROOM, _EPOCHS_ROOM = 1_024, 64


class CurveColumns:
    """What each file of `curves/` reads from the events of a run."""

    def __init__(self) -> None:
        curves = all_curves().values()
        self._of_step = {curve.key: curve.steps for curve in curves if curve.steps}
        self._of_batch = {
            curve.key: curve.batch for curve in curves if curve.batch and not curve.steps
        }
        self._of_epoch = {curve.key: curve.epoch for curve in curves if curve.epoch}
        self._of_epoch |= {
            curve.key + _VALIDATION: curve.validation for curve in curves if curve.validation
        }
        # Trainers compute in float32, so nothing is lost.
        single, double = np.float32, np.float64
        self._steps = GrowingColumns(
            {_STEP: np.int32, **dict.fromkeys(self._of_step, single)}, _ROOM
        )
        self._batches = GrowingColumns(
            {_STEP: np.int32, _TIME: single, **dict.fromkeys(self._of_batch, single)}, _ROOM
        )
        self._epochs = GrowingColumns(
            {_STEP: np.int32, _EPOCH: np.int32, **dict.fromkeys(self._of_epoch, double)},
            _EPOCHS_ROOM,
        )

    def add_batches(self, events: Sequence[Batch], times: Column) -> None:
        """Adds Batch events, at least one, each beginning behind the one before; `times` are
        their ends in seconds, never falling.
        """
        ends = [e.step for e in events]
        steps = [np.arange(e.first_step, e.step + 1) for e in events]
        values = {
            key: [value for e in events for value in of(e)] for key, of in self._of_step.items()
        }
        self._steps.append({_STEP: np.concatenate(steps), **values})
        last = {key: [of(e) for e in events] for key, of in self._of_batch.items()}
        self._batches.append({_STEP: ends, _TIME: times, **last})

    def add_epoch(self, event: EpochFinished) -> None:
        """Adds an epoch; those from its number on are void."""
        self._epochs.cut(int(np.searchsorted(self.epochs, event.epoch)))
        values = {key: [of(event)] for key, of in self._of_epoch.items()}
        self._epochs.append({_STEP: [event.step], _EPOCH: [event.epoch], **values})

    def cut(self, step: int) -> None:
        """Discards all behind a step."""
        for columns in (self._steps, self._batches, self._epochs):
            # A needle of the column's own type: a Python int would copy a million steps first.
            at = np.searchsorted(columns.view(_STEP), np.int32(step), side="right")
            columns.cut(int(at))

    @property
    def steps(self) -> Column:
        """The number of each step, int32 (n,), from 1."""
        return self._steps.view(_STEP)

    @property
    def batch_steps(self) -> Column:
        """Last step of each Batch event, int32 (m,), rising."""
        return self._batches.view(_STEP)

    @property
    def batch_times(self) -> Column:
        """Time of each Batch event in seconds, float32 (m,), never falling."""
        return self._batches.view(_TIME)

    @property
    def epochs(self) -> Column:
        """Number of each finished epoch, int32 (k,), rising."""
        return self._epochs.view(_EPOCH)

    @property
    def epoch_steps(self) -> Column:
        """Last step of each finished epoch, int32 (k,)."""
        return self._epochs.view(_STEP)

    def points(self, curve: CurveSpec) -> tuple[Column, Column]:
        """Steps and values of a curve's line, float32 (n,) or (m,); NaN where None was logged."""
        if curve.key in self._of_step:
            return self.steps, self._steps.view(curve.key)
        if curve.key in self._of_batch:
            return self.batch_steps, self._batches.view(curve.key)
        return self.steps[:0], np.empty(0, np.float32)

    def values(self, curve: CurveSpec) -> Column:
        """The value of a curve at each step, float32 (n,); NaN where there is none."""
        steps, values = self.points(curve)
        if curve.key in self._of_step:
            return values
        if not len(values):
            return np.full(len(self.steps), np.nan, np.float32)
        at = np.searchsorted(steps, self.steps)
        return values[np.minimum(at, len(values) - 1)]

    def epoch_values(self, curve: CurveSpec, *, is_validation: bool = False) -> Column:
        """A curve's value in each finished epoch, float64 (k,); NaN where there is none."""
        key = curve.key + _VALIDATION if is_validation else curve.key
        if key in self._of_epoch:
            return self._epochs.view(key)
        return np.full(len(self.epochs), np.nan)
