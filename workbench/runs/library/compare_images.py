"""Two runs on the same images: which of them each has right, where both have the same label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from workbench.core.evaluation.significance import (
    PairedTest,
    UnpairedTest,
    paired_test,
    unpaired_test,
)
from workbench.core.format import count, plural
from workbench.core.projects.data_edits import DataEdits, edits_to_plain
from workbench.protocol.trained.evaluate import ImageSet
from workbench.runs.folder import RunFolder
from workbench.runs.library.summary import RunSummary
from workbench.runs.log.texts import SET_IMAGES
from workbench.runs.naming import Row
from workbench.runs.store.evaluation import read_evaluation, read_image_scores
from workbench.runs.store.image_scores import Numbers, ScoredImages

# compare edits -------------------------------------------------------------------------------
# What differs between the data edits of two runs, in words, and whether their test figures are of
# the same images and labels.

_Edits = frozenset[str] | Mapping[str, str]

_CHECKSUM_DIGITS = 8
_ONE_AND_MANY: Mapping[str, tuple[str, str]] = {
    "labels": ("label differs", "labels differ"),
    "left_out": ("image left out", "images left out"),
    "once": ("image with one copy used", "images with one copy used"),
    "parts": ("image in another part", "images in another part"),
    "classes": ("class differs", "classes differ"),
}
_TITLES = {
    "labels": "Relabeled images",
    "left_out": "Images left out",
    "once": "Images with one copy used",
    "parts": "Images moved to another part",
    "classes": "Edited classes",
}
"""Fields of `DataEdits` that change the data; tags and findings that are kept do not."""


@dataclass(frozen=True)
class ComparedTests:
    """Whether two tests differ in labels of common images, and in images; None for not known."""

    labels_differ: bool | None = None
    images_differ: bool | None = None


@dataclass(frozen=True)
class ComparedEdits:
    """Edits that only one of two runs has, or that are not the same in both.

    Attributes:
        keys: By the field of `DataEdits`: contents of images, or names of classes.
        rows: What each run has of the fields that differ.
        tests: How their tests differ; None where one has no test figures.
    """

    keys: Mapping[str, frozenset[str]]
    rows: tuple[Row, ...] = ()
    tests: ComparedTests | None = None

    @property
    def words(self) -> str:
        """One sentence without a period; "" where the edits are the same."""
        found = [plural(len(self.keys[key]), *words) for key, words in _ONE_AND_MANY.items()
                 if self.keys[key]]  # fmt: skip
        if not found:
            return ""
        return "; ".join(filter(None, (f"Data edits: {', '.join(found)}", self._test_words())))

    def _test_words(self) -> str:
        if self.tests is None:
            return ""
        if self.tests.labels_differ:
            return "test figures are of different labels"
        if self.tests.images_differ:
            return "test figures are of different images"
        if self.tests == ComparedTests(labels_differ=False, images_differ=False):
            return "test images and labels are the same"
        what = "labels" if self.keys["labels"] or self.keys["classes"] else "images"
        return f"test figures may be of different {what}"

    def to_dict(self) -> dict[str, Any]:
        """The differences as JSON values: how many of each kind, and of the tests."""
        return {
            "words": self.words,
            **{key: len(keys) for key, keys in self.keys.items()},
            "test_labels_differ": self.tests.labels_differ if self.tests else None,
            "test_images_differ": self.tests.images_differ if self.tests else None,
        }


def compare_edits(
    left: DataEdits, right: DataEdits, tests: ComparedTests | None = None
) -> ComparedEdits:
    """Compares what the projects of two runs have changed about the data."""
    keys = {key: _differing(getattr(left, key), getattr(right, key)) for key in _TITLES}
    keys["labels"] -= keys["once"]  # the label of a copy comes with its choice
    return ComparedEdits(keys, tuple(_rows(keys, left, right)), tests)


def proven_by_edits(
    left: DataEdits, right: DataEdits, tested: Callable[[str], bool]
) -> ComparedTests:
    """What the edits of two runs say of their tests, where the images of one test alone are known.

    Whether an image, by its content, is known to be in either test is what `tested` answers.
    """
    parts = _differing(left.parts, right.parts)
    gone = _differing(left.left_out, right.left_out) | _differing(left.once, right.once)
    away = parts | left.left_out | right.left_out
    labels = any(tested(each) for each in _differing(left.labels, right.labels) - away)
    images = any(tested(each) for each in parts | gone)
    return ComparedTests(labels or None, images or None)


def _differing(left: _Edits, right: _Edits) -> frozenset[str]:
    """Elements of only one of two sets; keys with different values of two mappings."""
    if not isinstance(left, Mapping) or not isinstance(right, Mapping):
        return frozenset({*left} ^ {*right})
    return frozenset(key for key in {*left, *right} if left.get(key) != right.get(key))


def _rows(keys: Mapping[str, frozenset[str]], left: DataEdits, right: DataEdits) -> Iterator[Row]:
    for key, title in _TITLES.items():
        if not keys[key]:
            continue
        chosen = keys["once"] if key == "labels" else frozenset()
        numbers = [count(len({*getattr(each, key)} - chosen)) for each in (left, right)]
        if numbers[0] == numbers[1]:  # as many, but others
            marks = [_checksum(each, key) for each in (left, right)]
            numbers = [f"{n}, checksum {mark}" for n, mark in zip(numbers, marks, strict=True)]
        yield Row(title, numbers[0], numbers[1], plural(len(keys[key]), *_ONE_AND_MANY[key]))


def _checksum(edits: DataEdits, key: str) -> str:
    plain = repr(edits_to_plain(edits).get(key))
    return sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:_CHECKSUM_DIGITS]


# compare images ------------------------------------------------------------------------------

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


# compare accuracy ----------------------------------------------------------------------------
# Whether one of two runs is better by more than chance, in words.

_LEAST_P = 0.001


@dataclass(frozen=True)
class ComparedAccuracy:
    """Two accuracies and what a test says of their difference.

    Attributes:
        words: The result, a sentence.
        test: On the same images, or as if on different ones; None where neither is possible.
        part: Which images.
    """

    words: str
    test: PairedTest | UnpairedTest | None = None
    part: ImageSet = "test"

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON values; the difference is that of the right run less the left."""
        found: dict[str, Any] = {"words": self.words, "part": self.part}
        if self.test is None:
            return found
        is_paired = isinstance(self.test, PairedTest)
        kind = "two_proportions"
        if isinstance(self.test, PairedTest):
            kind = "mcnemar_exact" if self.test.is_exact else "mcnemar_chi_square"
        figures = {"difference": self.test.difference, "significant": self.test.is_significant}
        return found | {"test": kind, "same_images": is_paired} | figures | asdict(self.test)


def compare_accuracy(
    left: RunSummary, right: RunSummary, images: ComparedImages | None, part: ImageSet
) -> ComparedAccuracy | None:
    """The test of two runs on the images that both were evaluated on with the same labels; None
    where there are none. `images` are those of the left run as the right one has predicted them.
    """
    if images is None:
        return None
    is_same = images.is_common & ~images.is_relabeled
    count = int(is_same.sum())
    if not count:
        return None
    # What the left run alone has right is lost to the right one.
    test = paired_test(count, int(images.is_lost.sum()), int(images.is_gained.sum()))
    one = SET_IMAGES[part].removesuffix("s")
    on = f"on {plural(count, one)}"
    if count < len(is_same):
        on = f"on the {plural(count, one)} that both were tested on with the same labels"
    return ComparedAccuracy(_words(left, right, test, on), test, part)


def compare_counts(
    left: RunSummary, right: RunSummary, counts: tuple[int, int], *, is_other: bool
) -> ComparedAccuracy | None:
    """The test of two test accuracies of which no image can be matched, on so many images each;
    None where one of them is not known.

    Args:
        left: The one run.
        right: The other one.
        counts: Their test images; 0 for an unknown number.
        is_other: Whether it is known that the images are others.
    """
    if left.test_accuracy is None or right.test_accuracy is None:
        return None
    if is_other:
        return ComparedAccuracy(
            "The test images differ: the accuracies cannot be tested against each other."
        )
    if not all(counts):
        return ComparedAccuracy(
            "How many images the runs were tested on is not known: the accuracies cannot be tested "
            "against each other."
        )
    numbers = (left.test_accuracy, right.test_accuracy)
    first, second = (round(x * count, 6) for x, count in zip(numbers, counts, strict=True))
    test = unpaired_test((first, second), counts)
    on = f"on {counts[0]:,} and {counts[1]:,} test images that were not matched one by one"
    return ComparedAccuracy(_words(left, right, test, on), test)


def _words(left: RunSummary, right: RunSummary, test: PairedTest | UnpairedTest, on: str) -> str:
    """The comparison as a sentence: "Run 3 is better by 2.9 points, 95% interval -3.1 to 9.0: not
    significant on 34 test images, p = 0.45".
    """
    p = f"p < {_LEAST_P:g}" if test.p_value < _LEAST_P else f"p = {test.p_value:.2g}"
    if not test.difference:
        return f"Both runs have the same accuracy {on}, {p}."
    is_right = test.difference > 0
    low, high = (test.low, test.high) if is_right else (-test.high, -test.low)
    name = run_words(right if is_right else left, left if is_right else right)
    sign = "" if test.is_significant else "not "
    return (
        f"{name} is better by {100 * abs(test.difference):.1f} points, 95% interval "
        f"{100 * low:.1f} to {100 * high:.1f}: {sign}significant {on}, {p}."
    )


def run_words(run: RunSummary, other: RunSummary) -> str:
    """A run in a sentence: "Run 3", or its title in quotes."""
    if run.own_title and run.own_title != other.own_title:
        return f"Run “{run.own_title}”"
    return f"Run {run.number}" if run.number and run.number != other.number else f"Run “{run.name}”"
