"""A class with far fewer training images than the others, which is recognized far less often."""

from __future__ import annotations

import math

import numpy as np

from workbench.core.coach import Change, CoachSpec, Diagnosis, Evidence, RunRecord
from workbench.core.evaluation.significance import share_error
from workbench.core.format import count, plural, share

_EPOCHS = 3
_FEW = 10
_PART = 0.25
"""A class is rare with fewer images than this share of the median class, or fewer than ten."""

_CERTAIN = 2.0
"""Standard errors by which its accuracy is below that of all images."""


def _look(record: RunRecord) -> Diagnosis | None:
    matrix = record.confusion
    if matrix is None or len(record.epochs) < _EPOCHS or len(matrix) != len(record.per_class):
        return None
    sizes = record.per_class[:, 0]
    rare = int(sizes.argmin())
    if sizes[rare] >= max(_FEW, _PART * float(np.median(sizes))):
        return None
    own, images = float(matrix[rare, rare]), int(matrix[rare].sum())
    overall = float(np.trace(matrix) / max(1, matrix.sum()))
    error = share_error(own / images, images) if images else math.nan
    if images and own / images > overall - _CERTAIN * error:
        return None
    name, recall = record.class_names[rare], share(own / images) if images else "–"
    said = f"recognized in {recall} of the cases" if images else "not among the validation images"
    is_weighted = record.recipe is not None and record.recipe.class_weights != "none"
    return Diagnosis(
        observation=f"“{name}” has {plural(int(sizes[rare]), 'training image')}, where the "
        "median class "
        f"has {count(int(np.median(sizes)))}, and is {said}.",
        recommendation="More images of this class help most"
        + ("." if is_weighted else "; balanced class weights make it count as much as the others."),
        evidence=Evidence(
            (
                (f"Training images of “{name}”", count(int(sizes[rare]))),
                (f"Accuracy of “{name}”", f"{recall} of {count(images)}"),
                ("Accuracy of all classes", share(overall)),
            ),
            curve="accuracy",
            first=int(record.epochs[-1]),
            last=int(record.epochs[-1]),
        ),
        change=None if is_weighted else Change(recipe={"class_weights": "balanced"}),
    )


SPEC = CoachSpec(
    key="rare_class",
    title="Too few images of a class",
    order=80,
    watches="classes with too few images",
    look=_look,
)
