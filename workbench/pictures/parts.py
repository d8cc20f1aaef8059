"""Into which part training puts each image of a data set."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.core.projects.data_edits import PART_NAMES
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import split_indices

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

_TRAIN, _VALIDATION, _TEST = range(len(PART_NAMES))


def part_numbers(labels: Numbers, good: Mask, num_test: int, recipe: TrainingRecipe) -> Numbers:
    """The part of each image, by its place in PART_NAMES, as `prepare` splits them.

    Args:
        labels: Of the source's training part, then of its test part.
        good: Which images can be read.
        num_test: Images of the source's test part; 0 where one is split off.
        recipe: Its shares and seed count.
    """
    parts = np.full(len(labels), _TRAIN, np.int64)
    rest = np.flatnonzero(good[: len(labels) - num_test])
    if num_test:
        parts[len(labels) - num_test :] = _TEST
    else:
        tested, others = split_indices(labels[rest], shares=(recipe.test_share,), seed=recipe.seed)
        parts[rest[tested]] = _TEST
        rest = rest[others]
    if recipe.validation == "split":
        shares = (recipe.validation_share,)
        validated, _ = split_indices(labels[rest], shares=shares, seed=recipe.seed + 1)
        parts[rest[validated]] = _VALIDATION
    return parts
