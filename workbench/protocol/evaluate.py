"""Scores on a whole set of images, and some images of the test part."""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import Answer, Request
from workbench.protocol.weights import KeptWeights


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
    """Scores on the run's test part, or on another source. Answer: Evaluation."""

    model: str
    source: str = ""
    params: dict[str, object] = {}


class ClassScore(msgspec.Struct, frozen=True, kw_only=True):
    """How well one class is distinguished from the others."""

    name: str = msgspec.field(name="class")
    precision: float
    recall: float
    f1: float
    count: int


class Evaluation(Answer, frozen=True, kw_only=True, tag="evaluation"):
    """Scores on a set of images. Rows of `confusion` are true classes. `weights` are those that
    answered; None where that is not known. `is_validated_on_test`: the same images were the
    validation images of the training.
    """

    loss: float | None
    accuracy: float | None
    classes: list[str]
    per_class: list[ClassScore]
    confusion: list[list[int]]
    weights: KeptWeights | None = None
    is_validated_on_test: bool = False
