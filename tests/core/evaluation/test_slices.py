"""Slices: each image is in the right one, and the worst comes first."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from workbench.core.evaluation.significance import (
    FEW,
    MOST_RANGES,
    in_groups,
    in_ranges,
    wilson_interval,
    worst_first,
)


def named(least, greatest):
    return f"{least:g} to {greatest:g}"


def test_few_values_have_a_slice_each():
    values = np.array([5, 1, 5, 3, 1, 5])
    found = in_ranges(values, np.array([1, 0, 0, 1, 1, 1], bool), named)
    assert [(each.name, each.numbers.tolist(), each.right) for each in found] == [
        ("1 to 1", [1, 4], 1),
        ("3 to 3", [3], 1),
        ("5 to 5", [0, 2, 5], 2),
    ]


def test_many_values_are_in_ranges_of_about_as_many_images():
    values = np.random.default_rng(1).random(1_000).astype(np.float32)
    found = in_ranges(values, values > 0.5, named)
    assert len(found) == MOST_RANGES
    assert [abs(each.count - 200) <= 1 for each in found] == [True] * MOST_RANGES
    numbers = np.concatenate([each.numbers for each in found])
    assert sorted(numbers.tolist()) == list(range(1_000))
    assert [round(each.accuracy, 1) for each in found] == pytest.approx([0, 0, 0.5, 1, 1], abs=0.1)
    ends = [(values[each.numbers].min(), values[each.numbers].max()) for each in found]
    assert [each.name for each in found] == [named(*pair) for pair in ends]
    assert all(before[1] < after[0] for before, after in pairwise(ends))


def test_a_value_that_most_images_have_is_one_slice():
    values = np.concatenate([np.full(500, 32.0), np.arange(40, 50)])
    found = in_ranges(values, np.ones(len(values), bool), named)
    assert [each.count for each in found] in ([500, 10], [510])
    assert sum(each.count for each in found) == 510


def test_groups_have_their_images_and_names():
    groups = np.array([2, 0, 2, 2])
    found = in_groups(groups, np.array([True, False, True, False]), ["a", "b", "c"])
    assert [(each.name, each.numbers.tolist(), each.accuracy) for each in found] == [
        ("a", [1], 0.0),
        ("c", [0, 2, 3], pytest.approx(2 / 3)),
    ]
    assert found[1].interval == wilson_interval(2, 3)


@pytest.mark.parametrize("split", [in_groups, in_ranges])
def test_without_images_there_is_no_slice(split):
    names = {} if split is in_groups else named
    assert split(np.zeros(0, np.int64), np.zeros(0, bool), names) == []


def test_the_worst_come_first_and_few_images_are_marked():
    groups = np.repeat([0, 1, 2, 3], [FEW - 1, FEW, FEW + 1, 2])
    is_right = np.ones(len(groups), bool)
    is_right[groups == 2] = False
    found = worst_first(in_groups(groups, is_right, ["few", "enough", "wrong", "two"]))
    assert [(each.name, each.has_few) for each in found] == [
        ("wrong", False),
        ("enough", False),
        ("few", True),
        ("two", True),
    ]
