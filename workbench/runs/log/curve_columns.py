"""The curves of a run as growing columns: a value a step, a Batch event, or an epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.curves import CurveSpec, all_curves
from workbench.protocol.events import Batch, EpochFinished
from workbench.runs.log.columns import Column, GrowingColumns

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
