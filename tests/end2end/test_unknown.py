"""From the slider in Evaluate to an unknown answer in Classify, by mouse in the real window."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

pytestmark = [pytest.mark.full, pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen, tmp_path_factory):
    """What the user saw."""
    path = tmp_path_factory.mktemp("pictures") / "noise.png"
    noise = np.random.default_rng(4).integers(0, 256, (64, 64), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    return at_screen("doubter", str(path))


def test_the_run_is_calibrated_and_nearly_everything_is_covered(seen):
    assert 0 < float(seen["after"]) < 1
    assert float(seen["before"]) > 0
    covered = float(seen["covered_at_first"].split()[1].rstrip("%:"))
    assert 85 < covered < 100  # by the distance alone, whose limit 95% of the validation is within


def test_the_dragged_threshold_is_kept_with_the_run(seen):
    assert seen["kept"] == seen["slider"] > 0.8
    assert seen["covered"] != seen["covered_at_first"]


def test_the_picture_is_unknown_with_the_reason(seen):
    assert seen["label"] == "Unknown"
    assert seen["reason"].startswith(("unlike the training images", "not confident enough"))


def test_the_window_never_loaded_tensorflow(seen):
    assert seen["has_tensorflow"] is False
