"""Into which part training puts each image of a data set."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.core.split_marks import SplitMarks
from workbench.core.training.content_split import SplitImages
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import TEST, TRAIN, VALIDATION
from workbench.pictures.divide import divide_images

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


def part_numbers(
    images: SplitImages, good: Mask, origins: Numbers, recipe: TrainingRecipe, marks: SplitMarks
) -> Numbers:
    """The part of each image as `prepare` splits them: TRAIN, VALIDATION or TEST.

    Args:
        images: All images.
        good: Which images can be read.
        origins: The part of the source that each is in.
        recipe: Its split, shares and seeds count.
        marks: Where the split by content was cut before.
    """
    parts = origins.copy()
    free = np.flatnonzero(good & (origins == TRAIN))
    some = SplitImages(
        labels=images.labels[free],
        class_names=images.class_names,
        contents=images.contents[free],
        groups=None if images.groups is None else images.groups[free],
    )
    has_test, has_validation = TEST in origins, VALIDATION in origins
    parts[free] = divide_images(
        some, recipe, marks, has_test=has_test, has_validation=has_validation
    ).parts
    return parts
