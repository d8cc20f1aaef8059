"""Somebody's own pictures: at most four clicks to the first trained network, then a drop."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from workbench.pictures.png import write_png

FLOWERS = Path(__file__).resolve().parents[4] / "shared" / "data" / "flowers"
CLASSES = ("daisy", "roses", "tulips")
PER_CLASS = 40

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]


def generated(folder: Path, label: int, count: int) -> list[Path]:
    """Photos of three kinds of ground: stripes, checks, spots."""
    rng = np.random.default_rng(label)
    y, x = np.mgrid[:160, :200]
    paths = []
    folder.mkdir(parents=True)
    for number in range(count):
        size, shift = rng.integers(8, 20), rng.integers(0, 40)
        stripes, checks = (x + shift) // size % 2, ((x + shift) // size + y // size) % 2
        spots = (x + shift) % (2 * size) - size
        ground = (stripes, checks, spots**2 + (y % (2 * size) - size) ** 2 < size**2 / 2)[label]
        pixels = ground[:, :, None] * rng.integers(90, 160, 3) + rng.integers(0, 90, (160, 200, 3))
        paths.append(folder / f"{number}.png")
        write_png(paths[-1], pixels.astype(np.uint8))
    return paths


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A folder of class folders, and one picture of each class that is not in it."""
    root, others = tmp_path_factory.mktemp("photos") / "flowers", tmp_path_factory.mktemp("new")
    if not FLOWERS.is_dir():
        print("The flower photos are not here: generated images instead.")
    for label, name in enumerate(CLASSES):
        if FLOWERS.is_dir():
            found = sorted((FLOWERS / name).iterdir())[: PER_CLASS + 1]
            (root / name).mkdir(parents=True)
            for path in found[:PER_CLASS]:
                shutil.copy(path, root / name)
            new = found[-1]
        else:
            new = generated(root / name, label, PER_CLASS + 1).pop()
        shutil.copy(new, others / f"{name}{new.suffix}")
        (root / name / new.name).unlink(missing_ok=True)
    return root, others


@pytest.fixture(scope="module")
def seen(at_screen, pictures):
    """What their owner saw."""
    return at_screen("hands.own_pictures", *map(str, pictures))


def test_four_clicks_lead_to_a_trained_network(seen):
    assert seen["clicks"] <= 4
    assert seen["outcome"] == "completed"


def test_the_reason_for_the_network_is_told(seen):
    assert seen["reason"].startswith(f"3 classes, {3 * PER_CLASS} images. ")
    assert "pretrained" in seen["reason"]


def test_new_pictures_that_are_dropped_are_named(seen):
    assert seen["answers"] == {name: name for name in CLASSES}


def test_the_window_never_loaded_tensorflow(seen):
    assert seen["has_tensorflow"] is False
