"""A labeled folder dropped on Classify is classified and counted; the data set stays."""

from __future__ import annotations

import shutil

import pytest

from workbench.assets import sample_paths

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]

IMAGES = {
    "bag.png": ("bag_01", "Bag"),
    "trouser.png": ("trouser_01", "trouser"),
    "boot.png": ("ankle_boot_01", "Ankle boot"),
    "mislabeled.png": ("bag_01", "Sandal"),
    "hat.png": ("coat_01", "Hats"),
}
"""A bundled image and its folder for each file; the model has no class of hats."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder per class."""
    root = tmp_path_factory.mktemp("images") / "held out"
    samples = {path.stem: path for path in sample_paths()}
    for name, (sample, label) in IMAGES.items():
        (root / label).mkdir(parents=True, exist_ok=True)
        shutil.copy(samples[sample], root / label / name)
    return root


@pytest.fixture(scope="module")
def seen(at_screen, folder):
    """What the drop led to."""
    return at_screen("hands.labeled_folder", str(folder))


def test_the_drop_is_announced_and_classify_stays(seen):
    words = "Drop to classify the images of “held out” and count the correct ones"
    assert seen["over"] == words
    assert seen["view"] == "classify"


def test_every_image_is_classified_and_the_correct_ones_are_counted(seen):
    answers = seen["answers"]
    assert answers.keys() == IMAGES.keys()
    assert answers["bag.png"] == answers["mislabeled.png"]
    labels = {name: label for name, (_, label) in IMAGES.items() if label != "Hats"}
    right = sum(answers[name].startswith(label.capitalize()) for name, label in labels.items())
    assert 0 < right < 4
    counted = f"{right} of 4 correct ({right / 4:.1%})"
    unknown = "1 image with a label that is no class of this model"
    assert seen["words"] == f"5 images classified. {counted}; {unknown}."


def test_the_project_keeps_its_data_set(seen):
    assert seen["has_its_data"] is True
