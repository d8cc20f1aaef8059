"""The latest evaluations of a run, one a set of images: scores, images, weights.

`evaluation.json` of its folder is that of the test images, `evaluation_train.json` that of the
training images. Earlier versions kept one alone, in `evaluation.json`, of whatever images.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from workbench.core.evaluation.confusion import Confusion
from workbench.core.projects.project import Choice
from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.json_file import DAMAGED, decode_json, encode_json, refuse_newer
from workbench.core.storage.own_file import refuse_link
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
from workbench.protocol.trained.robustness import AlteredAccuracy, Robustness
from workbench.protocol.weights import KeptWeights
from workbench.runs.folder import RunFolder
from workbench.runs.home import check_own
from workbench.runs.naming import source_words
from workbench.runs.store.image_scores import (
    ClassScores,
    ScoredImages,
    class_scores_path,
    keep_class_scores,
    keep_image_scores,
    load_class_scores,
    load_image_scores,
    remove_image_scores,
)

# kept file -----------------------------------------------------------------------------------
# A result that is kept in the folder of a run: one JSON file, replaced as a whole.
#
# The folder may come from elsewhere: nothing is written through a link, and what is read is of
# limited size and checked before it is shown.

_MAX_COUNT = 2**53
"""Counts above are no whole numbers in JSON."""

_MAX_RECEIVED = 200
_END_OF_DATES = 253_402_214_400.0
"""The last day of the year 9999, in seconds since the epoch."""


class _Kept(Protocol):
    """What every kept value has.

    Attributes:
        created: Seconds since the epoch.
        version: Version of the format.
    """

    @property
    def created(self) -> float: ...

    @property
    def version(self) -> int: ...


K = TypeVar("K", bound=_Kept)


@dataclass(frozen=True)
class KeptFile(Generic[K]):
    """How one kind of result is kept.

    Attributes:
        name: The file's name.
        kind: The struct in it.
        version: The newest format that is understood.
        max_bytes: Size limit of the file.
        title: What it is, in messages: "evaluation".
        fix: How to make it again, a sentence.
    """

    name: str
    kind: type[K]
    version: int
    max_bytes: int
    title: str
    fix: str

    def write(self, run: RunFolder, kept: K) -> None:
        """Replaces what is kept.

        Raises:
            LinkFoundError: the folder, or the file, is a link.
            RunFolderError: it is no run folder, or the result is too large to be kept.
            SaveError: it cannot be written.
        """
        save_bytes(run.path / self.name, self.encoded(run, kept))

    def encoded(self, run: RunFolder, kept: K) -> bytes:
        """The bytes to be written, where they may be; raises as `write`."""
        if not run.request_path.is_file():
            raise RunFolderError("This is not a run folder.", where=str(run.path))
        check_own(run.path)
        refuse_link(run.path / self.name)
        data = encode_json(kept)
        if len(data) > self.max_bytes:
            raise RunFolderError(f"The {self.title} is too large to be kept.", where=str(run.path))
        return data

    def read(self, run: RunFolder, is_sound: Callable[[K], bool], received: str) -> K | None:
        """What is kept; None where nothing is.

        Args:
            run: The run.
            is_sound: Whether all of it can be shown.
            received: What a value that is not sound is called in the error.

        Raises:
            RunFolderError: the file is damaged, newer, or not sound.
        """
        path = run.path / self.name
        if not path.is_file():
            return None
        what = f"The kept {self.title} cannot be read."
        with os_errors_as(RunFolderError, what, path), open_foreign(path) as file:
            data = file.read(self.max_bytes + 1)
        try:
            kept: K = decode_json(data, self.kind)
        except DAMAGED as error:
            raise self.damaged(run, str(error)) from error
        what = f"The {self.title} was kept by a newer version of Workbench."
        refuse_newer(RunFolderError, what, path, kept.version, self.version)
        if len(data) > self.max_bytes or not is_date(kept.created) or not is_sound(kept):
            raise self.damaged(run, received)
        return kept

    def damaged(self, run: RunFolder, received: str) -> RunFolderError:
        """The error for a file with something else in it than a result of this kind."""
        return RunFolderError(
            f"The kept {self.title} is damaged.",
            where=str(run.path / self.name),
            received=received[:_MAX_RECEIVED],
            fix=self.fix,
        )


def is_share(value: float) -> bool:
    """Whether it is within 0..1, and a number."""
    return 0 <= value <= 1


def is_date(value: float) -> bool:
    """Whether it is a moment, in seconds since the epoch."""
    return 0 <= value < _END_OF_DATES


def is_count(value: int) -> bool:
    """Whether it can be a number of images, steps or epochs."""
    return 0 <= value <= _MAX_COUNT


# robustness ----------------------------------------------------------------------------------
# The latest accuracy of a run's model on altered test images: `robustness.json` in its folder for
# the tests of the project, `robustness_suite.json` for the ready suite.

ROBUSTNESS_NAME = "robustness.json"
SUITE_NAME = "robustness_suite.json"
ROBUSTNESS_VERSION = 1


class KeptRobustness(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement and what it is of.

    Attributes:
        result: The accuracies.
        checksum: Checksum of the weights, as in the model card; "" where it has none.
        created: Seconds since the epoch.
    """

    result: Robustness
    checksum: str = ""
    created: float = 0.0
    format: str = "workbench-robustness"
    version: int = ROBUSTNESS_VERSION


_FILE, _SUITE_FILE = (
    KeptFile(
        name=name,
        kind=KeptRobustness,
        version=ROBUSTNESS_VERSION,
        max_bytes=1024 * 1024,
        title="robustness",
        fix="Measure it again.",
    )
    for name in (ROBUSTNESS_NAME, SUITE_NAME)
)


def keep_robustness(run: RunFolder, result: Robustness, checksum: str) -> None:
    """Replaces the measurement of its kind in a run's folder.

    Raises:
        LinkFoundError: the folder, or the file, is a link.
        RunFolderError: it is no run folder, or the measurement is too large to be kept.
        SaveError: it cannot be written.
    """
    kept = KeptRobustness(
        result=msgspec.structs.replace(result, id=0), checksum=checksum, created=time.time()
    )
    (_FILE if result.mean_accuracy is None else _SUITE_FILE).write(run, kept)


def read_robustness(run: RunFolder, *, is_suite: bool = False) -> KeptRobustness | None:
    """The kept measurement of a run on the tests of its project, or on the suite; None where
    nothing was kept.

    Raises:
        RunFolderError: the file is damaged or newer.
    """
    file = _SUITE_FILE if is_suite else _FILE
    return file.read(run, _is_sound_robustness, "figures that cannot be accuracies")


def _is_sound_robustness(kept: KeptRobustness) -> bool:
    result = kept.result
    return (
        is_share(result.accuracy)
        and 0 < result.count <= result.total
        and is_count(result.total)
        and (result.mean_accuracy is None or is_share(result.mean_accuracy))
        and all(map(_is_measured, result.measured))
    )


def _is_measured(case: AlteredAccuracy) -> bool:
    strengths = case.strengths.values()
    return (
        is_share(case.accuracy)
        and is_share(case.level)
        and len(case.strengths) > 0
        and all(map(math.isfinite, strengths))
    )


# evaluation ----------------------------------------------------------------------------------

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
