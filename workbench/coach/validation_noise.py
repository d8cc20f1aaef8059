"""Too few validation images to compare runs: their accuracies differ by chance."""

from __future__ import annotations

import math

import numpy as np

from workbench.core.coach import (
    Change,
    CoachSpec,
    Diagnosis,
    Evidence,
    RunRecord,
    smallest_difference,
)
from workbench.core.evaluation.significance import share_error
from workbench.core.format import count, plural, share

_USELESS = 0.25
"""Smallest significant difference of accuracies, 0..1, above which every comparison is useless."""

_MATTERS = 0.03
"""Smallest significant difference, 0..1, up to which it need not be reported beside another run of
the project."""

_LARGEST_SHARE = 0.3


def _look(record: RunRecord) -> Diagnosis | None:
    found = record.val_accuracy[np.isfinite(record.val_accuracy)]
    if not len(found) or not record.num_validation:
        return None
    accuracy = float(found.max())
    least = smallest_difference(accuracy, record.num_validation)
    name, other = record.rival
    apart = abs(accuracy - other)
    is_compared = math.isfinite(other) and least > _MATTERS and 0.0 < apart < least
    if not (least > _USELESS or is_compared):
        return None
    images, points = plural(record.num_validation, "validation image"), f"{least * 100:.0f} points"
    beside = f" “{name}” differs by {apart * 100:.1f}." if is_compared else ""
    return Diagnosis(
        observation=f"With {images}, a difference of less than {points} of accuracy between runs "
        "is "
        f"noise.{beside}",
        recommendation="Hold out more images, or compare by cross-validation, which uses all of "
        "them.",
        evidence=Evidence(
            (
                ("Highest validation accuracy", share(accuracy)),
                ("Standard error", share(share_error(accuracy, record.num_validation))),
                ("Validation images", count(record.num_validation)),
            ),
            curve="accuracy",
            first=1,
            last=int(record.epochs[-1]),
        ),
        change=_change(record),
    )


def _change(record: RunRecord) -> Change | None:
    """A larger share, where validation images are split off and more can be."""
    recipe = record.recipe
    if recipe is None or recipe.validation != "split" or recipe.folds is not None:
        return None
    larger = min(_LARGEST_SHARE, 2.0 * recipe.validation_share)
    if larger <= recipe.validation_share:
        return None
    return Change(recipe={"validation_share": round(larger, 3)})


SPEC = CoachSpec(
    key="validation_noise",
    title="Validation is too noisy",
    order=90,
    watches="noise of the validation",
    look=_look,
)
