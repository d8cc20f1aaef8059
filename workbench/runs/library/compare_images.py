"""Two runs on the same images: which of them each has right, where both have the same label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
        probability: Probability of that class, float32, 0..1.
        actual: The true class in the other run, numbered as `predicted`.
        is_common: Which images the other run was evaluated on, too.
        is_relabeled: Which of these have another true class there: neither gained nor lost.
        is_right: Which it has right; of the common ones with the same true class.
        is_gained: Which of these the evaluation has right and the other run wrong.
        is_lost: Which of these the evaluation has wrong and the other run right.
    """

    predicted: Numbers
    probability: np.ndarray[Any, np.dtype[np.float32]]
    actual: Numbers
    is_common: Marks
    is_relabeled: Marks
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
    places = _places(here, there)
    numbers = {name: number for number, name in enumerate(here.names)}
    own = np.array([numbers.get(name, -1) for name in there.names], np.int64)
    is_common = places >= 0
    found = places[is_common]
    predicted, actual = np.full((2, len(places)), -1, np.int64)
    predicted[is_common] = own[there.images.predicted[found]]
    actual[is_common] = own[there.images.actual[found]]
    probability = np.zeros(len(places), np.float32)
    probability[is_common] = there.images.probability[found]
    is_same = is_common & (actual == here.images.actual)
    is_right = is_same & (predicted == here.images.actual)
    return ComparedImages(
        predicted,
        probability,
        actual,
        is_common,
        is_common & ~is_same,
        is_right,
        is_gained=is_same & here.images.is_right & ~is_right,
        is_lost=is_right & ~here.images.is_right,
    )


def _places(here: ImageScores, there: ImageScores) -> Numbers:
    """Index in `there` of each image of `here`; -1 for none. Of copies with several labels the one
    with the same label, if there is one.
    """
    known = {bytes(content): number for number, content in enumerate(there.images.content)}
    labeled = {key: number for number, key in enumerate(_labeled(there))}
    places = (labeled.get(key, known.get(key[0], -1)) for key in _labeled(here))
    return np.fromiter(places, np.int64, len(here.images))


def _labeled(scores: ImageScores) -> Iterator[tuple[bytes, str]]:
    """The content and the true class of each image."""
    images = scores.images
    for content, label in zip(images.content, images.actual, strict=True):
        yield bytes(content), scores.names[label]
