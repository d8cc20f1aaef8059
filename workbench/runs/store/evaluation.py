"""The latest evaluations of a run, one a set of images: scores, images, weights.

`evaluation.json` of its folder is that of the test images, `evaluation_train.json` that of the
training images. Earlier versions kept one alone, in `evaluation.json`, of whatever images.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.confusion import Confusion
from workbench.core.projects.project import Choice
from workbench.core.storage.save import save_bytes
from workbench.errors import RunFolderError, SaveError, os_errors_as
from workbench.protocol.events import TestResult
from workbench.protocol.trained.calibration import Calibration
from workbench.protocol.trained.evaluate import (
    IMAGE_SETS,
    Averages,
    ClassScore,
    Evaluate,
    Evaluation,
    ImageSet,
    cells_of,
)
from workbench.protocol.weights import KeptWeights
from workbench.runs.folder import RunFolder
from workbench.runs.naming import source_words
from workbench.runs.ownership import check_own
from workbench.runs.store.class_scores import (
    ClassScores,
    class_scores_path,
    keep_class_scores,
    load_class_scores,
)
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
        source, params: The data set, as in an Evaluate request; "" for a part of the run's own.
        checksum: Checksum of the weights, as in the model card; "" where it has none.
        created: Seconds since the epoch.
    """

    result: Evaluation
    source: str = ""
    params: dict[str, Any] = {}
    checksum: str = ""
    created: float = 0.0
    format: str = "workbench-evaluation"
    version: int = EVALUATION_VERSION

    @property
    def part(self) -> ImageSet:
        """Which images it is of."""
        return self.result.part

    def source_words(self) -> str:
        """The other data set in words: "Image folder: flowers"; "" for the run's own."""
        if not self.source:
            return ""
        return source_words(Choice(self.source, self.params))[:_MAX_WORDS]

    def request(self, request_id: int, model: str) -> Evaluate:
        """The request that evaluates the same images again."""
        part = "test" if self.result.part == "other" else self.result.part
        return Evaluate(
            id=request_id, model=model, part=part, source=self.source, params=self.params
        )


def _name(part: ImageSet) -> str:
    """The file of the evaluation of a set of images."""
    name = Path(EVALUATION_NAME)
    return name.name if part == "test" else f"{name.stem}_{part}{name.suffix}"


_FILES = {
    part: KeptFile(
        name=_name(part),
        kind=KeptEvaluation,
        version=EVALUATION_VERSION,
        max_bytes=64 * 2**20,  # 10,000 classes with long names, a million images on their cells
        title="evaluation",
        fix="Evaluate again.",
    )
    for part in IMAGE_SETS
}


@dataclass(frozen=True)
class KnownScores:
    """What the folder of a run has of its model's scores.

    Attributes:
        evaluations: The latest of each set of images.
        test: The test at the end of its training; None where it has none.
        checksum: Checksum of the weights that are there now.
        problem: Why a kept evaluation is not shown; None where nothing is wrong.
        calibration: Temperature and thresholds that are there now; None for none.
    """

    evaluations: Mapping[ImageSet, KeptEvaluation]
    test: TestResult | None
    checksum: str
    problem: RunFolderError | None = None
    calibration: Calibration | None = None

    @property
    def kept(self) -> KeptEvaluation | None:
        """The latest of all evaluations; None for none."""
        return max(self.evaluations.values(), key=lambda kept: kept.created, default=None)


def keep_evaluation(
    run: RunFolder,
    kept: KeptEvaluation,
    images: ScoredImages | None = None,
    rows: ClassScores | None = None,
) -> None:
    """Replaces the evaluation of the same set of images, with what was answered for each image, and
    the probabilities of all classes.

    Raises:
        LinkFoundError: the folder, or the file, is a link.
        RunFolderError: it is no run folder, or the result is too large to be kept.
        SaveError: it cannot be written.
    """
    file, part = _FILES[kept.part], kept.part
    data = file.encoded(run, kept)
    # A reader in between finds scores that belong to no evaluation: as good as none.
    if images is not None:
        keep_image_scores(run, images, part, kept.created)
    else:
        with os_errors_as(SaveError, "Earlier scores cannot be removed.", run.path):
            remove_image_scores(run, part)
    if rows is not None:
        keep_class_scores(run, rows, part, kept.created)
    else:
        class_scores_path(run, part).unlink(missing_ok=True)
    save_bytes(run.path / file.name, data)


def remove_evaluation(run: RunFolder, kept: KeptEvaluation) -> None:
    """Removes what is kept of an evaluation; raises SaveError, or LinkFoundError."""
    check_own(run.path)
    is_old = kept.part == "other" and not (run.path / _FILES["other"].name).is_file()
    place: ImageSet = "test" if is_old else kept.part
    with os_errors_as(SaveError, "The evaluation cannot be removed.", run.path):
        (run.path / _FILES[place].name).unlink(missing_ok=True)
        remove_image_scores(run, place)
        class_scores_path(run, place).unlink(missing_ok=True)


def read_evaluation(
    run: RunFolder, class_names: list[str], part: ImageSet = "test"
) -> KeptEvaluation | None:
    """The kept evaluation of a run's model with these classes on a set of images; None where
    nothing was kept.

    Raises:
        RunFolderError: the file is damaged, newer, or not of these classes.
    """
    for place in _places(part):
        kept = _read(run, class_names, place)
        if kept is not None and kept.part == part:
            return kept
    return None


def _places(part: ImageSet) -> tuple[ImageSet, ...]:
    """Image sets in whose files an evaluation may be: that of other images was in the file of the
    test images.
    """
    return ("other", "test") if part == "other" else (part,)


def _read(run: RunFolder, class_names: list[str], place: ImageSet) -> KeptEvaluation | None:
    received = "scores that cannot be of this model"
    kept = _FILES[place].read(run, lambda kept: _is_sound(kept, class_names), received)
    if kept is not None and kept.source and kept.part != "other":
        result = msgspec.structs.replace(kept.result, part="other")
        return msgspec.structs.replace(kept, result=result)
    return kept


def read_image_scores(run: RunFolder, kept: KeptEvaluation) -> ScoredImages | None:
    """What was answered for each image of a kept evaluation; None where that was not kept. Takes a
    tenth of a second for 100,000 images: not for the window's thread.

    Raises:
        RunFolderError: the file is damaged, or its images are not those of the evaluation.
    """
    num_classes = len(kept.result.classes)
    images = None
    for place in _places(kept.part):
        images = images or load_image_scores(run, place, kept.created, num_classes)
    if images is not None and cells_of(images.confusion(num_classes)) != kept.result.confusion:
        damaged = "images that are not those of the confusion matrix"
        raise _FILES[kept.part].damaged(run, damaged)
    return images


def read_class_scores(run: RunFolder, kept: KeptEvaluation) -> ClassScores | None:
    """The probabilities of all classes for each image of a kept evaluation; None where they were
    not kept. Not for the window's thread.

    Raises:
        RunFolderError: the file is damaged, or its images are not those of the evaluation.
    """
    num_classes = len(kept.result.classes)
    rows = load_class_scores(run, kept.part, kept.created, num_classes)
    if rows is not None:
        found = Confusion.of_images(rows.actual, rows.probabilities.argmax(axis=1), num_classes)
        if cells_of(found) != kept.result.confusion:
            damaged = "probabilities that are not those of the confusion matrix"
            raise _FILES[kept.part].damaged(run, damaged)
    return rows


def known_scores(run: RunFolder) -> KnownScores:
    """What is known of a model's scores; raises RunFolderError where there is no model."""
    card = run.model_card()
    found: dict[ImageSet, KeptEvaluation] = {}
    problem = None
    for place in IMAGE_SETS:
        try:
            kept = _read(run, card.class_names, place)
        except RunFolderError as error:
            problem = error
            continue
        if kept is not None:
            found.setdefault(kept.part, kept)
    return KnownScores(found, card.test, card.checksum, problem, card.calibration)


def _is_sound(kept: KeptEvaluation, class_names: list[str]) -> bool:
    """Whether all of it can be shown as scores of these classes."""
    result = kept.result
    return (
        result.classes == class_names
        and [score.name for score in result.per_class] == class_names
        and all(map(is_count, result.matrix.counts.tolist()))
        and is_count(result.count)
        and all(map(_is_score, result.per_class))
        and (result.accuracy is None or is_share(result.accuracy))
        and all(map(is_share, result.top_k_accuracy.values()))
        and all(map(_is_average, (result.roc_auc, result.average_precision)))
        and is_count(result.num_in_training)
        and (result.loss is None or math.isfinite(result.loss))
        and (result.weights is None or _is_known(result.weights))
    )


def _is_score(score: ClassScore) -> bool:
    areas = (score.roc_auc, score.average_precision)
    known = (each for each in areas if each is not None)
    shares = (score.precision, score.recall, score.f1, *known)
    return all(map(is_share, shares)) and is_count(score.count)


def _is_average(averages: Averages | None) -> bool:
    known = (averages.macro, averages.micro) if averages is not None else ()
    return all(is_share(each) for each in known if each is not None)


def _is_known(weights: KeptWeights) -> bool:
    return weights.kind in ("last", "best") and is_count(weights.epoch)
