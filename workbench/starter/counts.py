"""How many images a folder has in each class, and how large they are."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from workbench.core.params import Params
from workbench.datasets import sampled_shapes
from workbench.datasets.folder import SPEC as FOLDER
from workbench.pictures.header_size import usual_channels


@dataclass(frozen=True)
class FolderCount:
    """Class folders and their images.

    Attributes:
        pictures: Number of training images by class.
        short_side: Median of the shorter sides of some images, in pixels; None where no size could
            be read.
        num_channels: 1 where all of them are grayscale, else 3.
    """

    pictures: dict[str, int]
    short_side: float | None = None
    num_channels: int = 3

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
    shapes = sampled_shapes(data)
    side = median(min(shape[:2]) for shape in shapes) if shapes else None
    pictures = dict(zip(data.class_names, numbers, strict=True))
    return FolderCount(pictures, side, usual_channels(shapes))


class _Listing:
    """A LoadContext for names of files, which are listed before a message could be read."""

    cache_folder = ""

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Shows nothing."""

    def check_cancelled(self) -> None:
        """Goes on."""

    def keras(self) -> Any:
        """Is never called: no folder needs TensorFlow."""
        raise NotImplementedError
