"""What differs between the data edits of two runs, in words, and whether their test figures are of
the same images and labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from workbench.core.format import count, plural
from workbench.core.projects.data_edits import DataEdits, edits_to_plain
from workbench.runs.compare_graphs import Row

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
