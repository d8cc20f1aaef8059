"""Two runs in words: which is better, by how much, and whether chance alone gives that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.runs.library.test_compare_images import scores
from workbench.runs.library.compare_images import compare_accuracy, compare_counts, compare_images
from workbench.runs.library.summary import RunSummary


def run(number, accuracy=None, own_title=""):
    return RunSummary(
        path=Path(f"/runs/{number}"),
        name=f"run-{number}",
        title=own_title or f"Run {number}",
        own_title=own_title,
        number=number,
        outcome="completed",
        words="",
        created=1.0,
        test_accuracy=accuracy,
    )


def images_of(right_left, right_right):
    """What two models have right of the same images."""
    numbers = list(range(len(right_left)))
    here = scores(["cat", "dog"], numbers, [0] * len(numbers), [int(not r) for r in right_left])
    there = scores(["cat", "dog"], numbers, [0] * len(numbers), [int(not r) for r in right_right])
    return compare_images(here, there)


def test_a_small_difference_is_not_significant():
    images = images_of([1] * 27 + [0] * 7, [1] * 26 + [0] + [1] * 2 + [0] * 5)
    found = compare_accuracy(run(1), run(3), images, "test")
    assert found.words.startswith("Run 3 is better by 2.9 points, 95% interval ")
    assert found.words.endswith(": not significant on 34 test images, p = 1.")
    plain = found.to_dict()
    assert (plain["test"], plain["same_images"], plain["significant"]) == (
        "mcnemar_exact",
        True,
        False,
    )
    assert (plain["gained"], plain["lost"], plain["count"]) == (2, 1, 34)
    turned = compare_accuracy(run(3), run(1), images_of(
        [1] * 26 + [0] + [1] * 2 + [0] * 5, [1] * 27 + [0] * 7
    ), "test")  # fmt: skip
    assert turned.words.startswith("Run 3 is better by 2.9 points")
    assert turned.test.difference == -found.test.difference


def test_a_large_difference_is_significant():
    images = images_of([0] * 60 + [1] * 40, [1] * 100)
    found = compare_accuracy(run(1, own_title="Old"), run(1, own_title="New"), images, "validation")
    assert found.words.startswith("Run “New” is better by 60.0 points, 95% interval 50.0 to ")
    assert "significant on 100 validation images, p < 0.001." in found.words
    assert found.to_dict()["test"] == "mcnemar_chi_square"


def test_images_with_other_labels_do_not_count():
    here = scores(["cat", "dog"], [1, 2, 3], [0, 0, 1], [0, 1, 1])
    there = scores(["cat", "dog"], [1, 2, 4], [1, 0, 1], [0, 0, 1])
    found = compare_accuracy(run(1), run(2), compare_images(here, there), "test")
    assert "on the 1 test image that both were tested on with the same labels" in found.words
    none = compare_images(here, scores(["cat", "dog"], [9], [0], [0]))
    assert compare_accuracy(run(1), run(2), none, "test") is None
    assert compare_accuracy(run(1), run(2), None, "test") is None


def test_equal_accuracies_are_called_so():
    images = images_of([1, 0, 1], [0, 1, 1])
    found = compare_accuracy(run(1), run(2), images, "test")
    assert found.words == "Both runs have the same accuracy on 3 test images, p = 1."


@pytest.mark.parametrize(("counts", "is_other"), [((0, 34), False), ((34, 34), True)])
def test_what_cannot_be_tested_is_said(counts, is_other):
    found = compare_counts(run(1, 0.8), run(2, 0.9), counts, is_other=is_other)
    assert "cannot be tested" in found.words
    assert found.to_dict() == {"words": found.words, "part": "test"}


def test_numbers_alone_are_compared_as_two_proportions():
    found = compare_counts(run(1, 0.7), run(2, 0.78), (1_000, 1_000), is_other=False)
    assert found.words.startswith("Run 2 is better by 8.0 points")
    assert "were not matched one by one, p < 0.001." in found.words
    assert found.to_dict()["test"] == "two_proportions"
    assert compare_counts(run(1), run(2, 0.78), (10, 10), is_other=False) is None
    assert np.isclose(found.test.difference, 0.08)


def test_runs_of_one_number_are_named_by_their_folders():
    found = compare_counts(run(1, 0.5), run(1, 0.9), (100, 100), is_other=False)
    assert found.words.startswith("Run “run-1” is better")
