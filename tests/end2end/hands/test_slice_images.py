"""Training images beside test images, slices and their images, and a tag, by mouse and keyboard."""

from __future__ import annotations

import pytest

from tests.end2end.hands.slice_images import TAGGED
from tests.end2end.hands.test_mend_labels import MISPLACED, PER_CLASS, folder

__all__ = ["folder"]  # a fixture

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]

IMAGES = 2 * PER_CLASS + MISPLACED


@pytest.fixture(scope="module")
def seen(at_screen, folder):
    """What somebody saw who looked for slices."""
    return at_screen("hands.slice_images", str(folder))


def number_of(words):
    return int(words.split(", ")[1].split()[0])


def test_the_training_images_are_evaluated_and_said_to_be_seen(seen):
    assert seen["before"] == "Not evaluated on the training images yet"
    assert seen["train"].startswith("Training set, ")
    assert seen["train"].endswith(" images (seen in training)")
    assert seen["test"].startswith("Test set, ")
    assert number_of(seen["train"]) + number_of(seen["test"]) < IMAGES


def test_each_way_of_slicing_has_all_images_and_classes_are_worst_first(seen):
    for by, rows in seen["by"].items():
        assert sum(count for _, count, _ in rows) == number_of(seen["test"]), by
        accuracies = [right / count for _, count, right in rows]
        assert by in {"size", "brightness"} or accuracies == sorted(accuracies), by
    assert {name for name, *_ in seen["by"]["actual"]} == {"daisy", "tulips"}


def test_a_row_leads_to_its_images(seen):
    name, count, _ = seen["brightness"][0]
    assert seen["worst"] == [f"Brightness (0–255): {name}", count]


def test_a_tag_makes_a_slice(seen):
    assert seen["tags_before"] == []
    assert seen["tags"] == ["blurred"] * TAGGED
    counts = {name: count for name, count, _ in seen["tagged"]}
    assert counts["blurred"] == TAGGED
    assert counts["(no tag)"] == number_of(seen["test"]) - TAGGED


def test_the_window_never_loaded_tensorflow(seen):
    assert seen["has_tensorflow"] is False
