"""How many images a folder has in each class, and how large they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from workbench.errors import DatasetError
from workbench.pictures.class_folders.reading import class_folders
from workbench.pictures.header_size import header_size

_SAMPLED = 24
"""Images of a folder whose sizes are read."""


@dataclass(frozen=True)
class FolderCount:
    """Class folders and their images.

    Attributes:
        folder: The folder, absolute.
        pictures: Number of training images by class.
        short_side: Median of the shorter sides of some images, in pixels; None where no size could
            be read.
    """

    folder: str
    pictures: dict[str, int]
    short_side: float | None = None

    @property
    def total(self) -> int:
        """Images in all classes."""
        return sum(self.pictures.values())


def count_folder(folder: str) -> FolderCount:
    """Counts the images in each class folder, and reads the sizes of some.

    Raises:
        DatasetError: fewer than two class folders with images.
    """
    root = Path(folder)
    files = {name: paths for name, paths in class_folders(root).train.items() if paths}
    if len(files) < 2:
        raise DatasetError(
            "This folder has fewer than two classes.",
            where=folder,
            received=", ".join(files) or "no folder with images",
            expected="a folder with one folder of images per class",
            fix="Put the images of each class into a folder named after the class.",
        )
    counts = {name: len(paths) for name, paths in files.items()}
    everything = [path for paths in files.values() for path in paths]
    sample = everything[:: max(1, len(everything) // _SAMPLED)]
    return FolderCount(str(root.absolute()), counts, _short_side(sample))


def _short_side(paths: Iterable[str]) -> float | None:
    sizes = [size for path in paths if (size := header_size(path)) is not None]
    return median(min(size) for size in sizes) if sizes else None
