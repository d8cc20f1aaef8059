"""Images in one folder per class, written for a test, and a project that is trained on some."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from tests.worker.conftest import chain, stripes
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.png import write_png

STRIPES = ("high", "low", "middle")
"""The classes of `write_stripes`."""


def write_plain(folder: Path, counts: Mapping[str, int], side: int) -> Path:
    """So many images of each class, each of one gray, with the same ones in every class."""
    for name, count in counts.items():
        (folder / name).mkdir(parents=True)
        for number in range(count):
            write_png(folder / name / f"{number}.png", np.full((side, side, 3), number, np.uint8))
    return folder


def smooth_photo(seed: int, size: tuple[int, int] = (120, 90)) -> Image.Image:
    """A smooth image that no other seed resembles."""
    noise = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), np.uint8)
    return Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)


def write_photos(folder: Path, each: int, size: tuple[int, int] = (120, 90)) -> Path:
    """Smooth photos of two classes; photo n of the first has the seed n, of the second 500 + n."""
    for label, name in enumerate(("cat", "dog")):
        (folder / name).mkdir(parents=True)
        for number in range(each):
            smooth_photo(500 * label + number, size).save(folder / name / f"{number}.png")
    return folder


def write_stripes(folder: Path, count: int, seed: int = 4, stem: str = "") -> Path:
    """Images of three classes that a tiny network learns within seconds."""
    pictures, labels = stripes(count, seed)
    for number, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        write_png(folder / STRIPES[label] / f"{stem}{number:03}.png", picture)
    return folder


def stripes_project(folder: Path, **recipe: object) -> Project:
    """A project with a tiny network for `write_stripes`, split by content."""
    values = {"split": "content", "test_share": 0.2, "batch_size": 16}
    machine = {"precision": "float32", "xla": "off"}
    return Project(
        id="0123456789abcdef",
        title="Stripes",
        graph=chain(
            ("input", {"shape": (8, 8, 1)}),
            ("rescaling", {}),
            ("flatten", {}),
            ("dense", {"units": 3, "activation": "softmax"}),
        ),
        recipe=TrainingRecipe().with_values(**{**values, **machine, **recipe}),
        dataset=Choice("folder", {"path": str(folder)}),
    )
