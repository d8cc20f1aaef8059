"""One curve of a run up to now, and its exact values at a step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workbench.curves import CurveSpec
from workbench.runs.log.columns import Column
from workbench.runs.log.scores import metric_words


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
