"""The interval of a share."""

from __future__ import annotations

import pytest

from workbench.core.evaluation.significance import wilson_interval


@pytest.mark.parametrize(
    ("right", "count", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (175, 200, 0.8220, 0.9138),
        (1, 2, 0.0945, 0.9055),
    ],
)
def test_intervals_are_those_of_wilson(right, count, low, high):
    assert wilson_interval(right, count) == pytest.approx((low, high), abs=1e-4)


def test_no_images_leave_everything_open():
    assert wilson_interval(0, 0) == (0.0, 1.0)
