"""Into which part training puts each image of a data set."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.core.data_check.survey import TEST, TRAIN, VALIDATION
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import split_indices

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


def part_numbers(labels: Numbers, good: Mask, origins: Numbers, recipe: TrainingRecipe) -> Numbers:
    """The part of each image as `prepare` splits them: TRAIN, VALIDATION or TEST.

    Args:
        labels: Of each image.
        good: Which images can be read.
        origins: The part of the source that each is in.
        recipe: Its shares and seed count.
    """
    parts = origins.copy()
    rest = np.flatnonzero(good & (origins == TRAIN))
    if TEST not in origins:
        tested, others = split_indices(labels[rest], shares=(recipe.test_share,), seed=recipe.seed)
        parts[rest[tested]] = TEST
        rest = rest[others]
    if recipe.validation == "split" and VALIDATION not in origins:
        shares = (recipe.validation_share,)
        validated, _ = split_indices(labels[rest], shares=shares, seed=recipe.seed + 1)
        parts[rest[validated]] = VALIDATION
    return parts
