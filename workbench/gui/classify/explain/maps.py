"""Heat maps as they are shown: read and colored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage, QImageReader

from workbench.errors import PictureError
from workbench.pictures.heat import heat_colors
from workbench.protocol.trained.explain import Explained

LEVELS = 256


@dataclass(frozen=True)
class ShownMap:
    """An explanation and its maps in memory.

    Attributes:
        answer: The worker's answer.
        heat, check: The map, and the one with random weights, as colors with alpha; no `check`
            (null) where it was not requested.
        levels: The map as rows of its levels, 1 to 255; 0 where the model does not see the picture.
    """

    answer: Explained
    heat: QImage
    check: QImage
    levels: tuple[bytes, ...]


def load_maps(answer: Explained) -> ShownMap:
    """Reads the files of an answer.

    Raises:
        PictureError: a file is not there any more.
    """
    levels = _read(answer.heat_png)
    check = _colored(_read(answer.check_png)) if answer.check_png else QImage()
    return ShownMap(answer, _colored(levels), check, _rows(levels))


def _read(path: str) -> QImage:
    image = QImageReader(path).read()
    if image.isNull():
        what = "The heat map could not be read."
        raise PictureError(what, where=Path(path).name, fix="Request it again.")
    return image.convertToFormat(QImage.Format.Format_Grayscale8)


def _rows(levels: QImage) -> tuple[bytes, ...]:
    data, step = bytes(levels.constBits()), levels.bytesPerLine()
    return tuple(data[y * step : y * step + levels.width()] for y in range(levels.height()))


def _colored(levels: QImage) -> QImage:
    """An image of levels in the colors of heat maps."""
    width, height, step = levels.width(), levels.height(), levels.bytesPerLine()
    indexed = QImage(levels.constBits(), width, height, step, QImage.Format.Format_Indexed8).copy()
    colors = heat_colors(np.arange(LEVELS, dtype=np.uint8)).tolist()
    indexed.setColorTable([a << 24 | r << 16 | g << 8 | b for r, g, b, a in colors])
    return indexed.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
