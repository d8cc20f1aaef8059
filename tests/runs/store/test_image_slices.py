"""Slices of the images of an evaluation: each by its own name, in the order of values or worst first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.runs.store.test_image_scores import IMAGES
from workbench.runs.store.image_scores import NO_TAG, joined_paths, slices_of, why_not

CLASSES = ["cat", "dog"]
TAGS = {IMAGES.content_of(number): tag for number, tag in ((0, "night"), (3, "night"))}
COLUMNS = ("part", "index", "actual", "predicted", "rank", "probability", "loss", "content")


def sliced(by, images=IMAGES, tags=TAGS):
    assert why_not(images, by, tags) == ""
    found = slices_of(images, by, CLASSES, tags)
    return [(each.name, each.numbers.tolist(), each.right) for each in found]


def test_by_folder_and_class_and_tag():
    """Right are the images 0 and 2."""
    assert sliced("folder") == [("cät", [1], 0), ("dog", [2, 3], 1), ("cat", [0], 1)]
    assert sliced("actual") == [("cat", [0, 1], 1), ("dog", [2, 3], 1)]
    assert sliced("predicted") == [("cat", [0, 3], 1), ("dog", [1, 2], 1)]
    assert sliced("tag") == [(NO_TAG, [1, 2], 1), ("night", [0, 3], 1)]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("/a/b/1.png",) * 4, ["b"]),
        (("/a/b/1.png", "/a/c/d/1.png", "/a/2.png", "/a/2.png"), [".", "b", "c/d"]),
        (("/a/1.png", "rel/1.png", "/a/\udcff/1.png", "/a/\n/1.png"), None),
    ],
)
def test_folders_are_named_from_where_they_part(files, names):
    paths, lengths = joined_paths(files)
    found = sliced("folder", replace(IMAGES, paths=paths, lengths=lengths))
    assert sum(len(numbers) for _, numbers, _ in found) == 4
    assert all(name.isprintable() for name, _, _ in found)
    if names is not None:
        assert sorted(name for name, _, _ in found) == names


def test_few_sizes_are_listed_from_the_smallest_on():
    assert [name for name, _, _ in sliced("size")] == [
        "32 × 32 px",
        "640 × 480 px",
        "1,073,741,824 × 1 px",
        "(unknown)",
    ]


def test_many_sizes_are_ranges_of_megapixels_from_the_smallest_on():
    sides = np.array([(4 * at, 3 * at) for at in range(100, 140)], np.int32)[::-1].copy()
    sides[7] = 0
    columns = {name: getattr(IMAGES, name).repeat(10, axis=0) for name in COLUMNS}
    found = sliced("size", replace(IMAGES, sizes=sides, **columns))
    assert len(found) == 6
    assert found[0][0] == "0.12–0.14 MP"
    assert found[-1][:2] == ("(unknown)", [7])
    areas = [int(sides[numbers].prod(axis=1).max()) for _, numbers, _ in found[:-1]]
    assert areas == sorted(areas)
    assert sorted(number for _, numbers, _ in found for number in numbers) == list(range(40))


def test_ranges_of_size_that_are_close_have_more_digits():
    sides = np.array([(400, 1000 + at) for at in range(40)], np.int32)
    columns = {name: getattr(IMAGES, name).repeat(10, axis=0) for name in COLUMNS}
    names = [name for name, _, _ in sliced("size", replace(IMAGES, sizes=sides, **columns))]
    assert names[0] == "0.4–0.403 MP"
    assert len({*names}) == 5


def test_by_brightness_from_the_darkest_on():
    assert sliced("brightness") == [
        ("0", [0], 1),
        ("12", [1], 0),
        ("200", [2], 1),
        ("255", [3], 0),
    ]


@pytest.mark.parametrize(
    ("by", "changed", "words"),
    [
        ("size", {"sizes": np.zeros((0, 2), np.int32)}, "earlier version"),
        ("brightness", {"brightness": np.zeros(0, np.float32)}, "earlier version"),
        ("folder", {"lengths": np.zeros(0, np.int32)}, "no files of their own"),
        ("tag", {}, "No image has a tag"),
    ],
)
def test_what_is_not_known_is_said(by, changed, words):
    images = replace(IMAGES, **changed)
    assert words in why_not(images, by, {})
    assert slices_of(images, by, CLASSES, {}) == []
