"""From a cell of the confusion matrix to mended labels and another matrix, by mouse; and back."""

from __future__ import annotations

import shutil

import pytest

from tests.end2end.hands.mend_labels import IMAGES
from tests.end2end.hands.test_own_pictures import FLOWERS, generated

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]

CLASSES = ("daisy", "tulips")
PER_CLASS = 100
MISPLACED = 80
"""Tulips in the folder of daisies: so many that either class is mistaken for the other."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two class folders; some images are in the wrong one."""
    root = tmp_path_factory.mktemp("photos") / "flowers"
    if not FLOWERS.is_dir():
        print("The flower photos are not here: generated images instead.")
    for label, name in enumerate(CLASSES):
        count = PER_CLASS + label * MISPLACED
        (root / name).mkdir(parents=True)
        if FLOWERS.is_dir():
            for path in sorted((FLOWERS / name).iterdir())[:count]:
                shutil.copy(path, root / name)
        else:
            shutil.rmtree(root / name)
            generated(root / name, label, count)
    for path in sorted((root / "tulips").iterdir())[-MISPLACED:]:
        shutil.move(path, root / "daisy" / f"misplaced_{path.name}")
    return root


@pytest.fixture(scope="module")
def seen(at_screen, folder):
    """What their owner saw."""
    return at_screen("hands.mend_labels", str(folder))


def test_a_cell_leads_to_its_images(seen):
    assert set(seen["cell"]) == set(CLASSES)
    number, in_grid = seen["counts"]
    assert number == in_grid >= IMAGES


def test_three_images_are_relabeled_in_the_project(seen):
    predicted = seen["cell"][1]
    assert seen["relabeled"] == dict.fromkeys(seen["contents"], predicted)
    assert len(seen["relabeled"]) == IMAGES
    assert seen["marks"] == [f"now {predicted}"] * IMAGES


def test_training_again_starts_from_the_weights_and_changes_the_matrix(seen):
    assert seen["initial"] == "run 1"
    assert seen["is_changed"]
    actual, predicted = seen["moved"]
    expected = list(seen["first"])
    expected[actual] -= IMAGES
    expected[predicted] += IMAGES
    assert seen["second"] == expected, "test images of each class"


def test_undo_brings_the_labels_back(seen):
    assert seen["left"] == {}
