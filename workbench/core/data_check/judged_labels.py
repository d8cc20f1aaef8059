"""Selection of the images whose labels can be judged, and the judgment on these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.data_check.label_scores import LabelScores, label_scores

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float32]]

LEAST_IMAGES = 20
"""Fewer tell nothing about each other."""


@dataclass(frozen=True)
class JudgedLabels:
    """The judgment on the labels of some rows; its places are places in `rows`.

    Attributes:
        rows: The rows of the survey that were judged.
        classes: The label that each class of the scores has in the survey.
        single: Labels that were not judged, as they have one image or copies of one.
        scores: None where there are too few images, or fewer than two classes.
    """

    rows: Numbers
    classes: Numbers
    single: Numbers
    scores: LabelScores | None


def judged_labels(
    features: Floats, labels: Numbers, readable: Numbers, copies: Numbers
) -> JudgedLabels:
    """Judges the labels of readable images whose class has another image.

    Args:
        features: (n, d) of all rows.
        labels: (n,) label of each.
        readable: Rows whose features are known.
        copies: (n,) the first row of those that show the same as each row.
    """
    first = np.unique(copies[readable], return_index=True)[1]
    known, counts = np.unique(labels[readable[first]], return_counts=True)
    classes, single = known[counts > 1], np.setdiff1d(labels[readable], known[counts > 1])
    rows = readable[np.isin(labels[readable], classes)]
    if len(rows) < LEAST_IMAGES or len(classes) < 2:
        return JudgedLabels(rows, classes, single, None)
    own = np.searchsorted(classes, labels[rows])
    scores = label_scores(features[rows], own, len(classes), copies[rows])
    return JudgedLabels(rows, classes, single, scores)
