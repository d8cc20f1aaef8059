"""What finished epochs show by themselves, as the rules of the training coach look at it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.core.coach.record import Floats, RunRecord
from workbench.protocol.events import DataReady, EpochFinished


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
