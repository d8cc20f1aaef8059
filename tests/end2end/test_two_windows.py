"""Two real windows with one file: the later save does not silently overwrite the earlier one."""

from __future__ import annotations

import pytest

from workbench.core.projects.project_file import save_project
from workbench.templates import find_template

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen, tmp_path_factory):
    """What the two windows showed."""
    path = tmp_path_factory.mktemp("project") / "p.workbench"
    save_project(find_template("cifar10_convnet").project, path)
    return at_screen("two_windows", str(path))


def test_the_first_window_notices_the_save_of_the_second(seen):
    assert seen["second_saved"].count("batch_normalization") == 1
    assert seen["notice"] == "“p.workbench” was changed by another program"


def test_nothing_is_overwritten_before_it_is_confirmed(seen):
    assert seen["asked_before_Cancel"] == "“p.workbench” was changed by another program"
    assert seen["file_after_Cancel"] == seen["second_saved"]
    assert seen["asked_before_Overwrite"] == "“p.workbench” was changed by another program"
    assert "flatten" not in seen["file_after_Overwrite"]
    assert seen["file_after_Overwrite"].count("batch_normalization") == 2
    assert seen["is_dirty"] is False


def test_the_second_window_can_reload(seen):
    assert seen["can_revert"] is True
    assert seen["reloaded"] == seen["file_after_Overwrite"]
    assert seen["title"] == "[*]p — Workbench · also open in another window"
