"""A sweep is planned, trained, looked at, saved and used, all by mouse and keyboard."""

from __future__ import annotations

import csv

import pytest

pytestmark = [pytest.mark.full, pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen, tmp_path_factory):
    """What the user saw, on a small screen."""
    return at_screen("sweeper", str(tmp_path_factory.mktemp("sweep")), screen="1024x700")


def test_every_combination_was_trained(seen):
    assert seen["num_runs"] == 4
    rows = list(csv.DictReader(seen["csv"].splitlines()))
    assert [row["outcome"] for row in rows] == ["completed"] * 4


def test_the_clicked_combination_is_used_in_one_step_and_undone(seen):
    chosen = seen["chosen"]
    assert seen["width"] == int(chosen["dense_3.units"]) != 8
    assert seen["rate"] == float(chosen["learning_rate"]) != 0.02
    assert seen["steps"] == 1
    assert seen["undone_rate"] == 0.02


def test_the_window_never_loaded_tensorflow(seen):
    assert seen["has_tensorflow"] is False
