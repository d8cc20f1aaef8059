"""Drags, connects, trains, drops a picture, reads the label: the real thing, all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen):
    """What a first user saw."""
    return at_screen("first_picture", str(ROOT / "resources" / "samples" / "trouser_01.png"))


def test_layers_were_dragged_and_connected(seen):
    assert seen["kinds"] == ["input", "conv2d", "flatten", "dense"]
    assert seen["was_connected_by_hand"] is True
    assert seen["problems"] == []
    assert seen["parameters"] == 320 + 216_330


def test_training_was_real(seen):
    assert seen["steps"] == 100
    assert seen["val_accuracy"] > 0.5
    assert seen["validates_on_test"] is True


def test_the_dropped_picture_got_its_name(seen):
    assert seen["label"] == "Trouser"


def test_its_heat_map_is_compared_with_random_weights(seen):
    assert "map" in seen["note"]


def test_the_window_never_loaded_tensorflow(seen):
    assert seen["has_tensorflow"] is False
