"""The validation loss rises while the training loss falls, for several epochs, counted from the
epoch of the lowest validation loss; or the training images are memorized, and the validation
images far less well.
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from workbench.core.coach import Change, CoachSpec, Diagnosis, Evidence, RunRecord
from workbench.core.evaluation.significance import share_error
from workbench.core.format import count, number_text, plural, share

_RISEN = 1.1
_FALLEN = 0.9
_LATER = 5
"""Overfitting: so many epochs after its minimum the validation loss is a tenth above it, while the
training loss has fallen by a tenth. How high the minimum is counts as the median of three epochs: a
lucky one is no trend."""

_BY_HEART = 0.98
"""Training accuracy from which on hardly an image is left to learn from."""

_GAP = 0.15
_CERTAIN = 2.58
"""Validation accuracy that is lower by as much, and by so many standard errors of the difference,
which 1 of 100 is by chance, is no property of the validation images."""

_LAST = 3
"""Epochs that are looked at together: one of them is noise."""


def _look(record: RunRecord) -> Diagnosis | None:
    return _rises(record) or _is_memorized(record)


def _rises(record: RunRecord) -> Diagnosis | None:
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
    return Diagnosis(
        observation=f"Overfitting since epoch {since}: the {words}.",
        recommendation="Augmentation, dropout or more images help; early stopping ends such a "
        "run and keeps "
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


def _is_memorized(record: RunRecord) -> Diagnosis | None:
    """The training accuracy is that of each step's images, lowered by augmentation and dropout: so
    it is at least as high without.
    """
    training, validation = record.accuracy[-_LAST:], record.val_accuracy[-_LAST:]
    is_long = len(record.epochs) >= _LAST and record.num_validation > 0
    if not is_long or not np.isfinite([training, validation]).all():
        return None
    own, others = float(training.min()), float(validation.mean())
    error = math.hypot(
        share_error(own, max(1, record.num_train)), share_error(others, record.num_validation)
    )
    if own < _BY_HEART or own - others < max(_GAP, _CERTAIN * error):
        return None
    images = plural(record.num_train, "training image")
    figures = (
        ("Training accuracy", f"{share(own)} of {count(record.num_train)}"),
        ("Validation accuracy", f"{share(others)} of {count(record.num_validation)}"),
        ("Standard error of the difference", f"{100 * error:.1f} points"),
    )
    return Diagnosis(
        observation=f"The {images} are memorized: {share(own, 0)} of them are right, but "
        f"{share(others, 0)} of {plural(record.num_validation, 'validation image')}.",
        recommendation=_ways(record),
        evidence=Evidence(
            figures,
            curve="accuracy",
            first=int(record.epochs[-_LAST]),
            last=int(record.epochs[-1]),
        ),
        verdict=f"Overfitting: {share(own, 0)} of {images} right, {share(others, 0)} of validation",
    )


def _ways(record: RunRecord) -> str:
    """What helps, without what is there already."""
    nodes = record.graph.nodes.values() if record.graph is not None else ()
    ways = ["More images help most"]
    ways += [] if record.regularizes else ["augmentation, dropout or weight decay next"]
    is_frozen = any(node.training != "always" for node in nodes)
    ways += [] if is_frozen else ["a pretrained network that is not trained itself needs few"]
    return f"{'; '.join(ways)}."


SPEC = CoachSpec(
    key="overfits",
    title="Overfitting",
    order=60,
    watches="overfitting",
    gives_verdict=True,
    look=_look,
)
