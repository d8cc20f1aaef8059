"""Nearly every image is taken for the same class."""

from __future__ import annotations

import numpy as np

from workbench.core.coach import Change, CoachSpec, Diagnosis, Evidence, RunRecord
from workbench.core.format import share

_EPOCHS = 3
"""The first epochs of a network may begin like that."""

_PREDICTED = 0.95
_MOST_TRUE = 0.8
"""A class that most images are of is not taken for granted by mistake."""

_UNBALANCED = 3.0
"""Times the images of the smallest class from which on balanced class weights may help."""


def _look(record: RunRecord) -> Diagnosis | None:
    matrix = record.confusion
    if matrix is None or not matrix.sum() or len(record.epochs) < _EPOCHS:
        return None
    predicted, true = (matrix.sum(axis=axis) / matrix.sum() for axis in (0, 1))
    winner = int(predicted.argmax())
    if predicted[winner] < _PREDICTED or true[winner] > _MOST_TRUE:
        return None
    sizes = record.per_class[:, 0] if len(record.per_class) else np.ones(len(matrix))
    is_unbalanced = sizes.max() > _UNBALANCED * max(1, sizes.min())
    is_weighted = record.recipe is not None and record.recipe.class_weights != "none"
    name = record.class_names[winner]
    can_weight = is_unbalanced and not is_weighted
    return Diagnosis(
        observation=f"{share(float(predicted[winner]), 0)} of validation images are predicted as "
        f"“{name}”; {share(float(true[winner]), 0)} actually are.",
        recommendation="Balanced class weights make all classes count equally in the loss."
        if can_weight
        else "Check the labels and the scale of the input, and try another learning rate.",
        evidence=Evidence(
            (
                (f"Predicted as “{name}”", share(float(predicted[winner]))),
                (f"Images of “{name}”", share(float(true[winner]))),
            ),
            curve="accuracy",
            first=int(record.epochs[-1]),
            last=int(record.epochs[-1]),
        ),
        change=Change(recipe={"class_weights": "balanced"}) if can_weight else None,
    )


SPEC = CoachSpec(
    key="one_class",
    title="One class for all images",
    order=35,
    watches="one class for all images",
    look=_look,
)
