"""A renamed folder is found again, and a chosen model stays chosen, by mouse."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.full, pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen, tmp_path_factory):
    """What the owner of a folder saw who renamed it."""
    return at_screen("moved_folder", str(tmp_path_factory.mktemp("images")))


def test_a_renamed_folder_is_found_by_a_click(seen):
    assert "There is no such folder." in seen["found"]["words"]
    assert seen["found"]["accuracy"] == seen["before"]
    assert seen["project"] == seen["renamed"], "the project uses it, too"


def test_the_model_of_a_shown_picture_stays_while_another_trains(seen):
    assert seen["beside"]["stayed"]
    assert seen["beside"]["words"] == "Run 2 is ready: use it"
    assert seen["beside"]["model"]
