"""Which images one of two runs has right and the other wrong."""

from __future__ import annotations

import numpy as np

from workbench.runs.library.compare_images import ImageScores, compare_images
from workbench.runs.store.image_scores import ScoredImages


def scores(names, contents, actual, predicted):
    count = len(contents)
    images = ScoredImages(
        part=np.zeros(count, np.int8),
        index=np.arange(count, dtype=np.int32),
        actual=np.array(actual, np.int32),
        predicted=np.array(predicted, np.int32),
        rank=np.zeros(count, np.int32),
        probability=np.linspace(0.5, 1, count, dtype=np.float32),
        loss=np.zeros(count, np.float32),
        content=np.array([[content] * 16 for content in contents], np.uint8).reshape(count, 16),
        paths=np.zeros(0, np.uint8),
        lengths=np.zeros(0, np.int32),
    )
    return ImageScores(images, names)


def test_images_are_found_by_content_and_classes_by_name():
    here = scores(["cat", "dog"], [1, 2, 3, 4, 5], [0, 0, 1, 1, 0], [0, 1, 1, 0, 0])
    there = scores(["bird", "dog", "cat"], [5, 4, 3, 2], [2, 1, 1, 2], [0, 1, 2, 2])
    found = compare_images(here, there)
    assert found.is_common.tolist() == [False, True, True, True, True]
    assert found.predicted.tolist() == [-1, 0, 0, 1, -1]
    assert found.is_right.tolist() == [False, True, False, True, False]
    assert found.is_gained.tolist() == [False, False, True, False, True]
    assert found.is_lost.tolist() == [False, True, False, True, False]
    assert np.allclose(found.probability, [0, 1, 0.8333, 0.6667, 0.5], atol=1e-3)


def test_images_with_another_label_there_are_neither_gained_nor_lost():
    here = scores(["cat", "dog"], [1, 2, 3, 4], [0, 0, 1, 1], [0, 1, 1, 0])
    there = scores(["dog", "cat", "cow"], [1, 2, 3, 4], [0, 0, 2, 0], [1, 1, 1, 0])
    found = compare_images(here, there)
    assert found.actual.tolist() == [1, 1, -1, 1]
    assert found.is_relabeled.tolist() == [True, True, True, False]
    assert found.is_right.tolist() == [False, False, False, True]
    assert not found.is_gained.any()
    assert found.is_lost.tolist() == [False, False, False, True]


def test_copies_of_an_image_with_several_labels_are_paired_by_label():
    here = scores(["cat", "dog"], [1, 1], [0, 1], [0, 0])
    assert not compare_images(here, here).is_relabeled.any()
    one = scores(["cat", "dog"], [1], [1], [0])
    assert compare_images(here, one).is_relabeled.tolist() == [True, False]


def test_no_image_in_common():
    here = scores(["cat"], [1], [0], [0])
    found = compare_images(here, scores(["cat"], [2], [0], [0]))
    assert not found.is_common.any()
    assert not (found.is_gained | found.is_lost).any()
    none = compare_images(here, scores(["cat"], [], [], []))
    assert not none.is_common.any()
