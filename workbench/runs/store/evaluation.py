"""The latest evaluation of a run, in `evaluation.json` of its folder: scores, images, weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import msgspec

from workbench.core.projects.project import Choice
from workbench.core.storage.save import save_bytes
from workbench.errors import RunFolderError, SaveError, os_errors_as
from workbench.protocol.events import TestResult
from workbench.protocol.trained.calibration import Calibration
from workbench.protocol.trained.evaluate import ClassScore, Evaluation
from workbench.protocol.weights import KeptWeights
from workbench.runs.folder import RunFolder
from workbench.runs.naming import source_words
from workbench.runs.ownership import check_own
from workbench.runs.store.image_scores import (
    ScoredImages,
    keep_image_scores,
    load_image_scores,
    remove_image_scores,
)
from workbench.runs.store.kept_file import KeptFile, is_count, is_share

EVALUATION_NAME = "evaluation.json"
EVALUATION_VERSION = 1

_MAX_WORDS = 200


class KeptEvaluation(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluation and what it is of.

    Attributes:
        result: The scores.
        source, params: The data set, as in an Evaluate request; "" for the run's test images.
        checksum: Of the weights, as in the model card; "" where it has none.
        created: Seconds since the epoch.
    """

    result: Evaluation
    source: str = ""
    params: dict[str, Any] = {}
    checksum: str = ""
    created: float = 0.0
    format: str = "workbench-evaluation"
    version: int = EVALUATION_VERSION

    def images_words(self) -> str:
        """The images in words: "test set", “Image folder: flowers”."""
        if not self.source:
            return "test set"
        return source_words(Choice(self.source, self.params))[:_MAX_WORDS]


_FILE = KeptFile(
    name=EVALUATION_NAME,
    kind=KeptEvaluation,
    version=EVALUATION_VERSION,
    max_bytes=2 * 1024 * 1024,  # a confusion matrix of 1,000 classes; more would take long to read
    title="evaluation",
    fix="Evaluate again.",
)


@dataclass(frozen=True)
class KnownScores:
    """What the folder of a run has of its model's scores.

    Attributes:
        kept: The latest evaluation; None for none.
        test: The test at the end of its training; None where it has none.
        checksum: Of the weights that are there now.
        problem: Why the kept evaluation is not shown; None where nothing is wrong.
        calibration: Temperature and thresholds that are there now; None for none.
    """

    kept: KeptEvaluation | None
    test: TestResult | None
    checksum: str
    problem: RunFolderError | None = None
    calibration: Calibration | None = None


def keep_evaluation(
    run: RunFolder, kept: KeptEvaluation, images: ScoredImages | None = None
) -> None:
    """Replaces the evaluation in a run's folder, with what was answered for each image.

    Raises:
        LinkFoundError: the folder, or the file, is a link.
        RunFolderError: it is no run folder, or the result is too large to be kept.
        SaveError: it cannot be written.
    """
    data = _FILE.encoded(run, kept)
    # A reader in between finds scores that belong to no evaluation: as good as none.
    if images is not None:
        keep_image_scores(run, images, kept.created)
    else:
        with os_errors_as(SaveError, "Earlier scores cannot be removed.", run.path):
            remove_image_scores(run)
    save_bytes(run.path / EVALUATION_NAME, data)


def remove_evaluation(run: RunFolder) -> None:
    """Removes what is kept of a run's evaluation; raises SaveError, or LinkFoundError."""
    check_own(run.path)
    with os_errors_as(SaveError, "The evaluation cannot be removed.", run.path):
        (run.path / EVALUATION_NAME).unlink(missing_ok=True)
        remove_image_scores(run)


def read_evaluation(run: RunFolder, class_names: list[str]) -> KeptEvaluation | None:
    """The kept evaluation of a run's model with these classes; None where nothing was kept.

    Raises:
        RunFolderError: the file is damaged, newer, or not of these classes.
    """
    received = "scores that cannot be of this model"
    return _FILE.read(run, lambda kept: _is_sound(kept, class_names), received)


def read_image_scores(run: RunFolder, kept: KeptEvaluation) -> ScoredImages | None:
    """What was answered for each image of a kept evaluation; None where that was not kept. Takes a
    tenth of a second for 100,000 images: not for the window's thread.

    Raises:
        RunFolderError: the file is damaged, or its images are not those of the evaluation.
    """
    num_classes = len(kept.result.classes)
    images = load_image_scores(run, kept.created, num_classes)
    if images is not None and images.confusion(num_classes).tolist() != kept.result.confusion:
        raise _FILE.damaged(run, "images that are not those of the confusion matrix")
    return images


def known_scores(run: RunFolder) -> KnownScores:
    """What is known of a model's scores; raises RunFolderError where there is no model."""
    card = run.model_card()
    try:
        kept, problem = read_evaluation(run, card.class_names), None
    except RunFolderError as error:
        kept, problem = None, error
    return KnownScores(kept, card.test, card.checksum, problem, card.calibration)


def _is_sound(kept: KeptEvaluation, class_names: list[str]) -> bool:
    """Whether all of it can be shown as scores of these classes."""
    result, count = kept.result, len(class_names)
    rows = result.confusion
    return (
        result.classes == class_names
        and [score.name for score in result.per_class] == class_names
        and len(rows) == count
        and all(len(row) == count and all(map(is_count, row)) for row in rows)
        and all(map(_is_score, result.per_class))
        and (result.accuracy is None or is_share(result.accuracy))
        and all(map(is_share, result.top_k_accuracy.values()))
        and (result.loss is None or math.isfinite(result.loss))
        and (result.weights is None or _is_known(result.weights))
    )


def _is_score(score: ClassScore) -> bool:
    shares = (score.precision, score.recall, score.f1)
    return all(map(is_share, shares)) and is_count(score.count)


def _is_known(weights: KeptWeights) -> bool:
    return weights.kind in ("last", "best") and is_count(weights.epoch)
