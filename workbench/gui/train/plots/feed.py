"""A run's history as the series of its plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.gui.plots.series import Series
from workbench.gui.plots.x_scale import XScale
from workbench.protocol.events import EpochFinished
from workbench.runs.log.history import MetricHistory

Numbers = np.ndarray[Any, np.dtype[np.float64]]

_STEP, _LOSS, _VAL_LOSS, _ACCURACY, _VAL_ACCURACY, _EPOCH = range(6)


class HistoryFeed:
    """Makes the series of one run; what was made before is kept until the run rewinds.

    Args:
        history: What the run told so far; it may grow.
    """

    def __init__(self, history: MetricHistory) -> None:
        self.history = history
        self._epochs = _EpochColumns()
        self._rewinds = history.num_rewinds

    def size(self) -> tuple[int, int, int]:
        """Batches, epochs and rewinds: when they are as before there is nothing new."""
        history = self.history
        return len(history.steps), len(history.epochs), history.num_rewinds

    def update(self) -> None:
        """Takes in the epochs since the last call."""
        history = self.history
        if history.num_rewinds != self._rewinds:
            self._rewinds = history.num_rewinds
            self._epochs = _EpochColumns()
        self._epochs.extend(history.epochs)

    def loss(self) -> Series:
        """The loss."""
        return self._metric(self.history.losses, _LOSS, _VAL_LOSS)

    def accuracy(self) -> Series:
        """The accuracy."""
        return self._metric(self.history.accuracies, _ACCURACY, _VAL_ACCURACY)

    def rate(self) -> Series:
        """The learning rate, one value for each event; it has no epochs."""
        history = self.history
        return Series(
            steps=history.told_steps,
            values=history.told_rates,
            epochs=self._epochs.column(_EPOCH),
            epoch_steps=self._epochs.column(_STEP),
            epoch_train=np.full(len(self._epochs.column(_EPOCH)), np.nan),
            epoch_validation=np.full(len(self._epochs.column(_EPOCH)), np.nan),
            steps_per_epoch=self.steps_per_epoch,
            rewinds=self._rewinds,
        )

    @property
    def steps_per_epoch(self) -> int:
        """Steps of an epoch, 0 while unknown."""
        return self.history.data.steps_per_epoch if self.history.data else 0

    def scale(self, kind: str, *, is_log: bool) -> XScale:
        """The x axis of this run."""
        history = self.history
        return XScale(
            kind=kind,
            steps_per_epoch=self.steps_per_epoch,
            batch_size=history.started.batch_size if history.started else 0,
            told_steps=history.told_steps,
            told_times=history.told_times,
            is_log=is_log,
        )

    def _metric(self, values: Any, train: int, validation: int) -> Series:
        best = self.history.best
        return Series(
            steps=self.history.steps,
            values=values,
            epochs=self._epochs.column(_EPOCH),
            epoch_steps=self._epochs.column(_STEP),
            epoch_train=self._epochs.column(train),
            epoch_validation=self._epochs.column(validation),
            best_epoch=best.epoch if best else 0,
            steps_per_epoch=self.steps_per_epoch,
            rewinds=self._rewinds,
        )


class _EpochColumns:
    """EpochFinished events as arrays: step, loss, val_loss, accuracy, val_accuracy, epoch."""

    def __init__(self) -> None:
        self._table: Numbers = np.empty((6, 64))
        self._count = 0
        self._last: EpochFinished | None = None

    def extend(self, epochs: Sequence[EpochFinished]) -> None:
        """Takes in the epochs that came since the last call."""
        if self._count and (len(epochs) < self._count or epochs[self._count - 1] is not self._last):
            # An epoch was told again: what somebody still draws or writes keeps its values.
            self._count, self._table = 0, np.empty_like(self._table)
        if len(epochs) > self._table.shape[1]:
            grown = np.empty((6, 2 * len(epochs)))
            grown[:, : self._count] = self._table[:, : self._count]
            self._table = grown
        for index in range(self._count, len(epochs)):
            event = epochs[index]
            row = (event.step, event.loss, event.val_loss, event.accuracy, event.val_accuracy)
            numbers = [np.nan if value is None else value for value in row]
            self._table[:, index] = [*numbers, event.epoch]
        self._count = len(epochs)
        self._last = epochs[-1] if epochs else None

    def column(self, index: int) -> Numbers:
        """The filled part of a column."""
        return self._table[index, : self._count]
