"""Runs belong to projects: A1, A2 and A3 of the list of defects, by mouse and keyboard."""

from __future__ import annotations

import pytest

from tests.end2end.two_projects import _COLORS, _FASHION

pytestmark = [pytest.mark.full, pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen, tmp_path_factory):
    """What the owner of two projects saw."""
    return at_screen("two_projects", str(tmp_path_factory.mktemp("images")))


def test_a_project_without_a_run_shows_none(seen):
    assert seen["empty"] == ""


def test_a_project_that_was_never_saved_comes_back_with_its_run(seen):
    assert seen["reopened"]["run"] == seen["colors"]


def test_a_project_is_answered_by_its_own_model(seen):
    assert seen["own"]["model"] == seen["colors"]
    assert seen["own"]["label"] in _COLORS
    assert seen["own"]["note"] == ""


def test_another_model_answers_the_same_image_anew(seen):
    other = seen["other"]
    assert other["model"] == seen["fashion"]
    assert other["label"] not in _COLORS
    assert other["recent"].startswith(other["label"])
    assert other["note"].startswith("This model is of another project: Fashion-MNIST convnet")


def test_a_run_opens_as_its_project(seen):
    opened = seen["opened"]
    assert opened["run"] == seen["fashion"]
    assert opened["layers"] == seen["layers"]
    assert opened["recipe"] == _FASHION
    assert "Fashion-MNIST convnet" in opened["title"]


def test_stop_is_about_the_run_of_its_own_project(seen):
    stop = seen["stop"]
    assert stop["chip"].startswith("Fashion-MNIST convnet: epoch ")
    assert stop["button"] == "Add to queue"
    assert stop["stops"] is False
    assert stop["led_to"] == stop["stopped"]
    assert "Fashion-MNIST convnet" in stop["tip"]
    assert stop["outcome"] == "stopped"
