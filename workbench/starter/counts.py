"""How many images a folder has in each class, and how large they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from workbench.core.params import Params
from workbench.core.specs import FilePart
from workbench.datasets.folder import SPEC as FOLDER
from workbench.pictures.header_size import header_size

_SAMPLED = 24
"""Images of a folder whose sizes are read."""


@dataclass(frozen=True)
class FolderCount:
    """Class folders and their images.

    Attributes:
        pictures: Number of training images by class.
        short_side: Median of the shorter sides of some images, in pixels; None where no size could
            be read.
    """

    pictures: dict[str, int]
    short_side: float | None = None

    @property
    def total(self) -> int:
        """Images in all classes."""
        return sum(self.pictures.values())


def count_folder(params: Params) -> FolderCount:
    """Counts the training images of each class, and reads the sizes of some.

    Args:
        params: Those of an image folder: which, and how it is read.

    Raises:
        DatasetError: fewer than two class folders with images.
    """
    data = FOLDER.load(_Listing(), params)
    numbers = np.bincount(data.train.labels, minlength=len(data.class_names)).tolist()
    paths = data.train.paths if isinstance(data.train, FilePart) else ()
    sample = paths[:: max(1, len(paths) // _SAMPLED)]
    return FolderCount(dict(zip(data.class_names, numbers, strict=True)), _short_side(sample))


class _Listing:
    """A LoadContext for names of files, which are listed before a message could be read."""

    cache_folder = ""

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Shows nothing."""

    def check_cancelled(self) -> None:
        """Goes on."""

    def keras(self) -> Any:
        """No folder needs TensorFlow."""
        raise NotImplementedError


def _short_side(paths: Iterable[str]) -> float | None:
    sizes = [size for path in paths if (size := header_size(path)) is not None]
    return median(min(size) for size in sizes) if sizes else None
