"""A slider of What-if moves the bars, and what it is saved as is measured on the next run."""

from __future__ import annotations

import pytest

from workbench.assets import sample_paths

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen):
    """What the hands led to, with the bundled picture of a bag."""
    (picture,) = (path for path in sample_paths() if path.stem == "bag_01")
    return at_screen("hands.what_if", str(picture))


def test_the_bars_follow_the_mouse(seen):
    assert seen["altered"] != seen["unaltered"]
    assert 1 <= seen["answers"] <= seen["positions"] + 1
    assert seen["picture"] == f"Rotation {seen['degrees']}°"


def test_reset_brings_the_first_answer_back(seen):
    assert seen["reset"] == seen["unaltered"]


def test_the_next_run_is_measured_on_the_saved_test(seen):
    assert seen["saved"].startswith("Added to the project")
    ((words, _, _, lost),) = seen["table"]
    assert words == f"Rotation {seen['degrees']}°"
    assert "1,000 of 10,000 test images" in seen["subject"]
    assert seen["remark"] == ""
    assert float(lost) > 5
