"""A run that learns nothing is diagnosed in the window, and mended with two clicks."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.full, pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen):
    """What the user saw."""
    return at_screen("diagnosed_run")


def test_the_finding_stands_above_the_curves(seen):
    assert seen["title"] == "Learning rate too low"
    assert "Each step changes the weights by" in seen["words"]


def test_its_epochs_are_marked_in_the_curve(seen):
    begin, end = seen["marked"]
    assert 0.0 < begin < 0.5  # the first step
    assert end == 5.0


def test_what_it_suggests_is_applied_and_helps(seen):
    before, after = seen["rates"]
    assert after >= 10 * before
    assert seen["done"] == "In the training settings"
    assert seen["left"] == []
