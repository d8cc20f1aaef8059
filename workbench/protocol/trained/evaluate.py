"""Scores on a whole set of images, and some images of the test part."""

from __future__ import annotations

from typing import Literal

import msgspec

from workbench.core.projects.data_edits import PartName
from workbench.protocol.bases import Answer, Request
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


class PickTestPictures(Request, frozen=True, kw_only=True, tag="pick_test_pictures"):
    """Writes some test images of a run's data set as PNG files. Answer: TestPictures."""

    model: str
    count: int = 24
    indices: list[int] = []
    seed: int = 0


class TestPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A test image as a PNG file, with its true class."""

    __test__ = False

    index: int
    path: str
    label: str


class TestPictures(Answer, frozen=True, kw_only=True, tag="test_pictures"):
    """Answer to PickTestPictures.

    Attributes:
        pictures: Those that were requested and exist.
        total: Images in the test set: indices are below it.
    """

    __test__ = False

    pictures: list[TestPicture]
    total: int


class Evaluate(Request, frozen=True, kw_only=True, tag="evaluate"):
    """Scores on a part of the run's own split, or on another source; `with_images` those of each
    image, too; those of slices `by` something. Answer: Evaluation.
    """

    model: str
    part: PartName = "test"
    source: str = ""
    params: dict[str, object] = {}
    with_images: bool = False
    by: SliceBy | None = None


class ClassScore(msgspec.Struct, frozen=True, kw_only=True):
    """How well one class is distinguished from the others."""

    name: str = msgspec.field(name="class")
    precision: float
    recall: float
    f1: float
    count: int


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


class ImageScores(msgspec.Struct, frozen=True, kw_only=True):
    """What a model answers for each image, in columns.

    Attributes:
        parts, indices: Where they are in the data set as it is evaluated, see `ImagePlace`.
        files: Paths; empty for images that are in no files of their own.
        actual, predicted: Numbers of classes.
        probability: Of the predicted class, 0..1.
        loss: Cross-entropy of the same probabilities; None where it is not finite.
    """

    parts: list[str]
    indices: list[int]
    files: list[str]
    actual: list[int]
    predicted: list[int]
    probability: list[float]
    loss: list[float | None]


class Evaluation(Answer, frozen=True, kw_only=True, tag="evaluation"):
    """Scores on a set of images; rows of `confusion` are true classes.

    Attributes:
        loss: Of the uncalibrated outputs, as in training; None where it is not finite.
        negative_log_likelihood: Mean loss of the probabilities that are shown, calibrated where the
            model is: the mean of the losses of the images. None where it is not finite, and in
            evaluations of earlier versions.
        part: Which images; "other" for another data set.
        weights: Those that answered; None where that is not known.
        is_validated_on_test: The images were both test and validation images of the training.
        calibration: None in evaluations of earlier versions.
        top_k_accuracy: k -> share of images whose true class is among the k most probable, 0..1,
            where there are more classes than k; empty in evaluations of earlier versions.
        num_in_training: Images of this part when the run was trained; 0 where that is not known.
        images, slices: Where the request has asked for them.
    """

    loss: float | None
    accuracy: float | None
    classes: list[str]
    per_class: list[ClassScore]
    confusion: list[list[int]]
    part: ImageSet = "test"
    weights: KeptWeights | None = None
    is_validated_on_test: bool = False
    calibration: CalibrationScores | None = None
    top_k_accuracy: dict[int, float] = {}
    num_in_training: int = 0
    negative_log_likelihood: float | None = None
    images: ImageScores | None = None
    slices: list[SliceScore] = []
