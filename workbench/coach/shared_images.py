"""A leak: held-out images that are among the training images, or a validation accuracy that is
higher than the same network's on its own training images.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.core.coach import Change, CoachSpec, Diagnosis, Evidence, RunRecord
from workbench.core.evaluation.significance import share_error
from workbench.core.format import count, plural, share

_CERTAIN = 4.0
"""Standard errors by which validation is better than training, before it is called implausible."""

_CLEAR = 0.03
_EPOCHS = 3
_MOST_SHARED = 0.002
"""Share of the held-out images that may be in training before it matters."""


def _look(record: RunRecord) -> Diagnosis | None:
    return _shared(record) or _too_good(record)


def _shared(record: RunRecord) -> Diagnosis | None:
    held_out = int(record.per_class[:, 1:].sum()) if len(record.per_class) else 0
    if not held_out or record.num_shared <= _MOST_SHARED * held_out:
        return None
    # A test part of the data set's own stays as it is, however the rest is split.
    is_split = record.recipe is not None and record.recipe.validation == "split"
    change = _split_by_content(record) if is_split else None
    return Diagnosis(
        observation=f"{plural(record.num_shared, 'held-out image')} of {count(held_out)} "
        f"{'is' if record.num_shared == 1 else 'are'} also among the training images: what is "
        "measured on them is better than on new images.",
        recommendation="A split by content keeps duplicates together; the data check lists them."
        if change is not None
        else "The data check lists them and leaves them out.",
        evidence=Evidence(
            (
                ("Held-out images also trained on", share(record.num_shared / held_out)),
                ("Held-out images", count(held_out)),
            ),
            curve="accuracy",
        ),
        change=change,
    )


def _too_good(record: RunRecord) -> Diagnosis | None:
    found = _compared(record)
    if found is None:
        return None
    epoch, validation, training, images = found
    error = math.hypot(
        share_error(validation, record.num_validation), share_error(training, images)
    )
    if validation - training < max(_CLEAR, _CERTAIN * error):
        return None
    return Diagnosis(
        observation=f"The validation accuracy, {share(validation)}, is above the "
        f"{share(training)} on the "
        "training images, without augmentation and dropout: that is implausible for new images.",
        recommendation="Run the data check: validation images may be copies of training images, "
        "or easier, or "
        "training labels wrong.",
        evidence=Evidence(
            (
                ("Validation accuracy", f"{share(validation)} of {count(record.num_validation)}"),
                ("Training accuracy", f"{share(training)} of {count(images)}"),
                ("Standard error of the difference", share(error)),
            ),
            curve="accuracy",
            first=epoch,
            last=epoch,
        ),
        change=_split_by_content(record),
    )


def _compared(record: RunRecord) -> tuple[int, float, float, int] | None:
    """(epoch, validation accuracy, training accuracy of the same or later weights, images)."""
    if len(record.epochs) < _EPOCHS or not record.num_validation:
        return None
    last, epochs = record.last, record.epochs.tolist()
    if last is not None and last.epoch in epochs and last.epoch >= _EPOCHS:
        value = float(record.val_accuracy[epochs.index(last.epoch)])
        if math.isfinite(value) and math.isfinite(last.accuracy):
            return last.epoch, value, last.accuracy, last.images
    if record.regularizes:
        return None
    # The mean over the next epoch is of later weights: it would be higher.
    validation, training = float(record.val_accuracy[-2]), float(record.accuracy[-1])
    if not np.isfinite([validation, training]).all():
        return None
    return int(record.epochs[-2]), validation, training, max(1, record.num_train)


def _split_by_content(record: RunRecord) -> Change | None:
    recipe = record.recipe
    if recipe is None or recipe.split == "content":
        return None
    return Change(recipe={"split": "content", "validation": "split"})


SPEC = CoachSpec(
    key="shared_images",
    title="Leak between training and validation",
    order=15,
    watches="leaks",
    look=_look,
)
