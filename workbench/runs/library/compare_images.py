"""Two runs on the same images: which of them each has right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.protocol.trained.evaluate import ImageSet
from workbench.runs.folder import RunFolder
from workbench.runs.store.evaluation import read_evaluation, read_image_scores
from workbench.runs.store.image_scores import Numbers, ScoredImages

Marks = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class ImageScores:
    """The images of a run's kept evaluation, and its class names."""

    images: ScoredImages
    names: Sequence[str]


@dataclass(frozen=True)
class ComparedImages:
    """What another run has predicted for the images of an evaluation, (n,) each.

    Attributes:
        predicted: The class, as the evaluation numbers it; -1 where it has none of this name.
        probability: Of that class, float32, 0..1.
        is_common: Which images the other run was evaluated on, too.
        is_right: Which it has right, by the labels of the evaluation; of the common ones.
        is_gained: Which the evaluation has right and the other run wrong.
        is_lost: Which the evaluation has wrong and the other run right.
    """

    predicted: Numbers
    probability: np.ndarray[Any, np.dtype[np.float32]]
    is_common: Marks
    is_right: Marks
    is_gained: Marks
    is_lost: Marks


def scores_of(run: RunFolder, part: ImageSet = "test") -> ImageScores | None:
    """What a run's latest evaluation on such images has kept of each; None for nothing.

    Raises:
        RunFolderError: there is no model, or what was kept is damaged.
    """
    kept = read_evaluation(run, run.model_card().class_names, part)
    images = read_image_scores(run, kept) if kept is not None else None
    return ImageScores(images, kept.result.classes) if kept is not None and images else None


def compare_images(here: ImageScores, there: ImageScores) -> ComparedImages:
    """Finds the images of `here` among those of `there`, by content: copies count as one image."""
    known = {bytes(content): number for number, content in enumerate(there.images.content)}
    places = np.array([known.get(bytes(each), -1) for each in here.images.content], np.int64)
    numbers = {name: number for number, name in enumerate(here.names)}
    own = np.array([numbers.get(name, -1) for name in there.names], np.int64)
    is_common = places >= 0
    found = places[is_common]
    predicted = np.full(len(places), -1, np.int64)
    predicted[is_common] = own[there.images.predicted[found]]
    probability = np.zeros(len(places), np.float32)
    probability[is_common] = there.images.probability[found]
    is_right = is_common & (predicted == here.images.actual)
    return ComparedImages(
        predicted,
        probability,
        is_common,
        is_right,
        is_gained=is_common & here.images.is_right & ~is_right,
        is_lost=is_right & ~here.images.is_right,
    )
