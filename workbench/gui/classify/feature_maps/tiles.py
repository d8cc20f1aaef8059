"""The tiles of a layer as they are shown: read and colored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QImageReader

from workbench.errors import PictureError
from workbench.pictures.heat import heat_colors, weight_colors
from workbench.protocol.trained.feature_maps import LayerShown

Levels = np.ndarray[Any, np.dtype[np.uint8]]

_LEVELS = 256


@dataclass(frozen=True)
class ShownLayer:
    """A layer and its tiles in memory.

    Attributes:
        answer: The worker's answer.
        own, common: All tiles in one image, each colored by its own range of values, and all by
            the same.
    """

    answer: LayerShown
    own: QImage
    common: QImage

    def place(self, position: int) -> QRect:
        """Rectangle of a channel's tile in the images, by its position in the answer."""
        height, width = self.answer.tile
        row, column = divmod(position, self.answer.columns)
        return QRect(column * width, row * height, width, height)

    def image(self, *, is_common: bool) -> QImage:
        """The tiles in either coloring."""
        return self.common if is_common else self.own

    @property
    def has_ranges(self) -> bool:
        """Whether each tile has a range of its own: single values and colors have none."""
        return not self.answer.is_color and max(self.answer.tile, default=0) > 1

    def common_range(self) -> tuple[float, float]:
        """The values of the first and the last color where all tiles have the same."""
        channels = self.answer.channels
        return min(each.low for each in channels), max(each.high for each in channels)


def load_tiles(answer: LayerShown) -> ShownLayer:
    """Reads and colors the tiles of an answer.

    Raises:
        PictureError: the file is not there any more.
    """
    if not answer.channels:
        return ShownLayer(answer, QImage(), QImage())
    image = QImageReader(answer.tiles_png).read()
    if image.isNull():
        what = "The tiles could not be read."
        raise PictureError(what, where=Path(answer.tiles_png).name, fix="Request them again.")
    if answer.is_color:
        return ShownLayer(answer, image, image)
    levels = _array(image.convertToFormat(QImage.Format.Format_Grayscale8))
    colors = weight_colors if answer.what == "filters" else _map_colors
    own, common = (_image(colors(each)) for each in (levels, _in_common(answer, levels)))
    return ShownLayer(answer, own, common)


def _map_colors(levels: Levels) -> Levels:
    return heat_colors(np.maximum(levels, 1))


def _in_common(answer: LayerShown, levels: Levels) -> Levels:
    """The levels of all tiles by the same range of values."""
    first = min(each.low for each in answer.channels)
    span = max(each.high for each in answer.channels) - first
    height, width = answer.tile
    result = np.zeros_like(levels)
    steps = np.arange(_LEVELS) / (_LEVELS - 1)
    for position, channel in enumerate(answer.channels):
        values = channel.low + steps * (channel.high - channel.low)
        table = ((values - first) / (span or 1) * (_LEVELS - 1)).round().astype(np.uint8)
        row, column = divmod(position, answer.columns)
        place = np.s_[row * height : (row + 1) * height, column * width : (column + 1) * width]
        result[place] = table[levels[place]]
    return result


def _array(image: QImage) -> Levels:
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    return rows[:, : image.width()].copy()


def _image(colors: Levels) -> QImage:
    """A picture of colors uint8 (height, width, 4)."""
    height, width = colors.shape[:2]
    data = np.ascontiguousarray(colors).tobytes()
    return QImage(data, width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()
