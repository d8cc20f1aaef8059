"""Finds a rate, pauses, resumes, queues, compares, renames, deletes: by mouse and keyboard."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.full, pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen):
    """What a researcher saw."""
    return at_screen("many_runs")


def test_the_rate_that_was_found_is_in_the_recipe(seen):
    before, found = seen["rates"]
    assert found != before
    assert 1e-7 < found < 0.1


def test_a_paused_run_goes_on_where_it_stopped(seen):
    assert seen["paused"] == "paused"
    assert seen["resumed_at"] == seen["paused_at"]
    assert seen["is_whole"] is True


def test_the_run_in_the_queue_was_trained_after_the_first(seen):
    assert seen["outcomes"] == ["stopped", "completed"]


def test_two_runs_were_compared(seen):
    assert {"Optimizer", "Epochs"} <= set(seen["different"])


def test_one_run_got_a_name_and_one_went_to_the_trash(seen):
    assert seen["title"] == "plain descent"
    assert seen["is_gone"] is True
    assert seen["left"] == 1
