"""Without images Train records no run and leads to a folder of images."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.pictures.png import write_png

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]

FLOWERS = ("daisy", "dandelion", "rose", "sunflower", "tulip")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two small images of each class."""
    root = tmp_path_factory.mktemp("images") / "flowers"
    for shade, name in enumerate(FLOWERS):
        (root / name).mkdir(parents=True)
        for number in range(2):
            write_png(root / name / f"{number}.png", np.full((32, 32, 3), 40 * shade, np.uint8))
    return root


@pytest.fixture(scope="module")
def seen(at_screen, folder):
    """What the start page, Train and the dialog led to."""
    return at_screen("hands.no_images", str(folder))


def test_the_card_and_the_network_say_where_the_images_are(seen):
    assert "Images included" in seen["card"]
    assert seen["step"] == "Not finished: Choose a folder…"


def test_train_leads_to_the_problem_and_records_no_run(seen):
    trained = seen["trained"]
    assert trained["opened"] is True
    assert "No data" in trained["words"]
    assert "No folder with images has been chosen for this project yet." in trained["words"]
    assert trained["runs"] == trained["folders"] == 0
    assert trained["view"] == "design"


def test_the_button_of_the_problem_leads_to_a_folder_of_images(seen, folder):
    assert seen["folder"] == str(folder)
    assert seen["is_trainable"] is True
    assert seen["view"] == "data"
    assert seen["runs"] == 0
