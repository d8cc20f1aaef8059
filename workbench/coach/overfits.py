"""The validation loss rises while the training loss falls, for several epochs; counted from the
epoch of the lowest validation loss.
"""

from __future__ import annotations

from statistics import median

import numpy as np

from workbench.core.coach.advice import Change, CoachSpec, Evidence, Seen
from workbench.core.coach.record import RunRecord
from workbench.core.format import count, number_text

_RISEN = 1.1
_FALLEN = 0.9
_LATER = 5
"""Overfitting: so many epochs after its minimum the validation loss is a tenth above it, while the
training loss has fallen by a tenth. How high the minimum is counts as the median of three epochs: a
lucky one is no trend."""


def _look(record: RunRecord) -> Seen | None:
    is_measured = np.isfinite(record.val_loss) & np.isfinite(record.loss)
    epochs = record.epochs[is_measured]
    if len(epochs) <= _LATER:
        return None
    validation = [float(value) for value in record.val_loss[is_measured]]
    training = [float(value) for value in record.loss[is_measured]]
    smooth = [median(validation[max(0, i - 1) : i + 2]) for i in range(len(validation))]
    best = validation.index(min(validation))
    is_late = len(epochs) - 1 - best >= _LATER
    has_risen = min(validation[-3:]) > _RISEN * min(smooth)
    has_fallen = max(training[-3:]) < _FALLEN * training[best]
    if not (is_late and has_risen and has_fallen):
        return None
    since, words = count(int(epochs[best])), "validation loss rises while training loss falls"
    return Seen(
        sees=f"Overfitting since epoch {since}: the {words}.",
        do="Augmentation, dropout or more images help; early stopping ends such a run and keeps "
        "the epoch with the lowest validation loss.",
        evidence=Evidence(
            (
                (f"Validation loss, epoch {since}", number_text(validation[best])),
                ("Validation loss, last epoch", number_text(validation[-1])),
                (f"Training loss, epoch {since}", number_text(training[best])),
                ("Training loss, last epoch", number_text(training[-1])),
            ),
            curve="loss",
            first=int(epochs[best]),
            last=int(epochs[-1]),
        ),
        # One epoch less than is looked at: a run that ends so early is well.
        change=Change(
            recipe={"early_stopping_patience": _LATER - 1, "keep": "best", "keep_by": "val_loss"}
        ),
        verdict=f"Overfitting since epoch {since}: {words}",
    )


SPEC = CoachSpec(
    key="overfits",
    title="Overfitting",
    order=60,
    watches="overfitting",
    gives_verdict=True,
    look=_look,
)
