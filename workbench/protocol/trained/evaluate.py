"""Scores on a whole set of images, and some images of the test part."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from workbench.core.evaluation.confusion import Confusion
from workbench.core.evaluation.ranking import Wish
from workbench.core.projects.data_edits import PartName
from workbench.protocol.bases import FinalAnswer, Request
from workbench.protocol.trained.calibration import CalibrationScores
from workbench.protocol.weights import KeptWeights

ImageSet = Literal["test", "validation", "train", "other"]
"""Which images: a part of the run's own split, or another data set."""

IMAGE_SETS: tuple[ImageSet, ...] = ("other", "test", "validation", "train")
"""All of them; first the one that earlier versions kept in place of that of the test images."""


SliceBy = Literal["size", "brightness", "folder", "tag", "actual", "predicted"]
"""What the images of a slice have in common: size of the original file, brightness of the model's
input, folder of the file, tag, actual class, predicted class.
"""


class TestPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A test image as a PNG file, with its true class."""

    __test__ = False

    index: int
    path: str
    label: str


class TestPictures(FinalAnswer, frozen=True, kw_only=True, tag="test_pictures"):
    """Answer to PickTestPictures.

    Attributes:
        pictures: Those that were requested and exist.
        total: Images in the test set: indices are below it.
    """

    __test__ = False

    pictures: list[TestPicture]
    total: int


class PickTestPictures(Request, frozen=True, kw_only=True, tag="pick_test_pictures"):
    """Writes some test images of a run's data set as PNG files."""

    final_answer = TestPictures
    handler = "describe"

    model: str
    count: int = 24
    indices: list[int] = []
    seed: int = 0


class ThresholdPoint(msgspec.Struct, frozen=True, kw_only=True):
    """What a threshold gives on some images.

    Attributes:
        precision, recall: 0..1; None where there is nothing to divide by.
        f1: 0..1.
        right, wrong, missed: Images as of `thresholds.Point`.
    """

    precision: float | None
    recall: float | None
    f1: float
    right: int
    wrong: int
    missed: int


class ClassThreshold(msgspec.Struct, frozen=True, kw_only=True):
    """From which probability on an image is taken for a class.

    Attributes:
        threshold: None where no image of the class chooses one, or none is good enough; and where
            it is best to take no image for the class, which `validation` says.
        validation: What it gives on the validation images, which have chosen it; None for none.
        found: What it gives on the images of the evaluation.
    """

    name: str = msgspec.field(name="class")
    threshold: float | None = None
    validation: ThresholdPoint | None = None
    found: ThresholdPoint | None = None


class UnknownThreshold(msgspec.Struct, frozen=True, kw_only=True):
    """From which probability on an answer costs less than "unknown".

    Attributes:
        threshold: None where "unknown" always costs less.
        cost, cost_without: Mean cost of an image of the evaluation with it and without it.
        unknown, wrong: Images of the evaluation below it, and wrong ones above it.
        validation_cost: The first cost on the validation images, which have chosen it.
    """

    threshold: float | None
    cost: float
    cost_without: float
    unknown: int
    wrong: int
    validation_cost: float


class ClassScore(msgspec.Struct, frozen=True, kw_only=True):
    """How well one class is distinguished from the others.

    Attributes:
        roc_auc: Area under the ROC curve of its probability, against all other classes; None where
            no image is of the class, or all are, and where it was not computed.
        average_precision: Area under the precision-recall curve, by steps; None without images.
    """

    name: str = msgspec.field(name="class")
    precision: float
    recall: float
    f1: float
    count: int
    roc_auc: float | None = None
    average_precision: float | None = None


class Averages(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the classes: its mean over those that have it, and that of all pairs of image and
    class together; None where there is none.
    """

    macro: float | None = None
    micro: float | None = None


class Cells(msgspec.Struct, frozen=True):
    """The cells of a confusion matrix that are not 0: numbers of the classes, and images."""

    actual: list[int]
    predicted: list[int]
    counts: list[int]


class SliceScore(msgspec.Struct, frozen=True, kw_only=True):
    """The accuracy on one slice of the images.

    Attributes:
        name: What its images have in common.
        count: How many there are.
        accuracy: The share that is classified right, 0..1.
        low, high: Its 95% interval, by Wilson.
        has_few: There are too few images to say much.
    """

    name: str = msgspec.field(name="slice")
    count: int
    accuracy: float
    low: float
    high: float
    has_few: bool = msgspec.field(name="few")


class Evaluation(FinalAnswer, frozen=True, kw_only=True, tag="evaluation", dict=True):
    """Scores on a set of images.

    Attributes:
        loss: Mean loss of the uncalibrated outputs, as in training; None where it is not finite.
        negative_log_likelihood: Mean loss of the probabilities that are shown, calibrated where the
            model is: the mean of the losses of the images. None where it is not finite, and in
            evaluations of earlier versions.
        confusion: The matrix; in evaluations of earlier versions a list for each actual class,
            which becomes cells.
        part: Which images; "other" for another data set.
        weights: Epoch and kind of the evaluated weights; None where that is not known.
        is_validated_on_test: The images were both test and validation images of the training.
        calibration: None in evaluations of earlier versions.
        top_k_accuracy: k -> share of images whose true class is among the k most probable, 0..1,
            where there are more classes than k; empty in evaluations of earlier versions.
        roc_auc, average_precision: As of `ClassScore`; None in evaluations of earlier versions.
        num_in_training: Images of this part when the run was trained; 0 where that is not known.
        is_from_elsewhere: The weights were loaded from a file: which images they have seen in
            training is not known.
        slices, thresholds, unknown: Where the request has asked for them.
        class_notes: Sentences on classes of the images that were matched although their names
            differ from those of the model in more than their form.
    """

    loss: float | None
    accuracy: float | None
    classes: list[str]
    per_class: list[ClassScore]
    confusion: Cells | list[list[int]]
    part: ImageSet = "test"
    weights: KeptWeights | None = None
    is_validated_on_test: bool = False
    calibration: CalibrationScores | None = None
    top_k_accuracy: dict[int, float] = {}
    roc_auc: Averages | None = None
    average_precision: Averages | None = None
    num_in_training: int = 0
    is_from_elsewhere: bool = False
    negative_log_likelihood: float | None = None
    slices: list[SliceScore] = []
    thresholds: list[ClassThreshold] = []
    unknown: UnknownThreshold | None = None
    class_notes: list[str] = []

    def __post_init__(self) -> None:
        rows, size = self.confusion, len(self.classes)
        cells = rows if isinstance(rows, Cells) else _cells_of_rows(rows, size)
        if (matrix := _matrix_of(cells, size)) is None:
            raise ValueError("no confusion matrix of these classes")
        msgspec.structs.force_setattr(self, "confusion", cells)
        # Made here, in the thread that reads a message: of many images it takes a while.
        self.__dict__["matrix"] = matrix

    @property
    def matrix(self) -> Confusion:
        """The confusion matrix."""
        found: Confusion = self.__dict__["matrix"]
        return found

    @property
    def count(self) -> int:
        """The images that were evaluated."""
        return self.matrix.total


class Evaluate(Request, frozen=True, kw_only=True, tag="evaluate"):
    """Scores on a part of the run's own split, or on another source.

    Attributes:
        table: A CSV file to write with the scores of each image; "" for none.
        by: With the scores of slices by something.
        top: Further values of k for the top-k accuracy.
        wish: With a threshold for each class that is chosen on the run's validation images, and
            what it gives on these.
    """

    final_answer = Evaluation
    handler = "trained.evaluate"

    model: str
    part: PartName = "test"
    source: str = ""
    params: dict[str, object] = {}
    table: str = ""
    by: SliceBy | None = None
    top: list[int] = []
    wish: Wish | None = None


def cells_of(found: Confusion) -> Cells:
    """A confusion matrix as messages have it."""
    return Cells(found.actual.tolist(), found.predicted.tolist(), found.counts.tolist())


def _cells_of_rows(rows: list[list[int]], size: int) -> Cells:
    """The cells of a list for each actual class; raises ValueError where they are not a square."""
    if len(rows) != size or any(len(row) != size for row in rows):
        raise ValueError("no confusion matrix of these classes")
    found = [
        (actual, predicted, count)
        for actual, row in enumerate(rows)
        for predicted, count in enumerate(row)
        if count
    ]
    return Cells(*map(list, zip(*found, strict=True))) if found else Cells([], [], [])


def _matrix_of(cells: Cells, size: int) -> Confusion | None:
    """The matrix with these cells; None where they are not of so many classes, in order, and none
    twice.
    """
    columns = cells.actual, cells.predicted, cells.counts
    if len({*map(len, columns)}) > 1:
        return None
    try:
        actual, predicted, counts = (np.array(each, np.int64) for each in columns)
    except OverflowError:
        return None
    is_within = (actual >= 0) & (actual < size) & (predicted >= 0) & (predicted < size)
    is_ordered = bool((np.diff(actual * size + predicted) > 0).all())
    if not (is_ordered and is_within.all() and (counts > 0).all()):
        return None
    return Confusion(size, actual, predicted, counts)
