"""Into which part training puts each image of a data set."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import TEST, TRAIN, VALIDATION, divide_by_order

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
    divided = np.flatnonzero(good & (origins == TRAIN))
    is_split = recipe.validation == "split" and VALIDATION not in origins
    shares = (
        0.0 if TEST in origins else recipe.test_share,
        recipe.validation_share if is_split else 0.0,
    )
    parts[divided] = divide_by_order(labels[divided], pins=None, shares=shares, seed=recipe.seed)
    return parts
