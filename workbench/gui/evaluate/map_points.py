"""Choice of the points of a map that are shown, and their colors. Qt-free."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from workbench.core.projects.data_edits import PART_NAMES
from workbench.runs.store.image_features import ImageMap
from workbench.runs.store.image_scores import Numbers

Colors = np.ndarray[Any, np.dtype[np.uint32]]
Places = np.ndarray[Any, np.dtype[np.float32]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

By = Literal["actual", "predicted"]

ALL_PARTS = -1

PART_WORDS = {"train": "Training images", "validation": "Validation images", "test": "Test images"}

_LIGHTNESS = {True: (0.66, 0.5, 0.8), False: (0.45, 0.32, 0.6)}
"""Lightness, 0..1, of classes that share a hue, by whether the theme is dark: so more classes than
there are hues can be distinguished."""
_NUM_HUES = 12


@dataclass(frozen=True)
class MapChoice:
    """What is shown of a map.

    Attributes:
        part: Number of a part of the training, ALL_PARTS for all.
        by: Which class a point has its color by.
        is_wrong: Those alone that were predicted as another class.
        hidden: Numbers of the classes that are not shown.
    """

    part: int = ALL_PARTS
    by: By = "actual"
    is_wrong: bool = False
    hidden: frozenset[int] = field(default_factory=frozenset)

    def labels(self, found: ImageMap) -> Numbers:
        """The class of each image that its color is by."""
        images = found.images
        return np.asarray(images.actual if self.by == "actual" else images.predicted, np.int64)

    def shown(self, found: ImageMap) -> Numbers:
        """The numbers of the images that are shown."""
        is_shown: Flags = ~np.isin(self.labels(found), list(self.hidden))
        if self.part != ALL_PARTS:
            is_shown &= found.role == self.part
        if self.is_wrong:
            is_shown &= ~found.images.is_right
        return np.flatnonzero(is_shown)


def parts_of(found: ImageMap) -> list[tuple[int, str]]:
    """The parts that have images: number and words."""
    return [
        (number, PART_WORDS[name]) for number, name in enumerate(PART_NAMES) if found.counts[number]
    ]


def class_color(number: int, num_classes: int, *, is_dark: bool) -> tuple[int, int, int]:
    """The color of a class: hues as far apart as there are classes, at most twelve of them."""
    hues = min(num_classes, _NUM_HUES) or 1
    lights = _LIGHTNESS[is_dark]
    light = lights[number // hues % len(lights)]
    red, green, blue = colorsys.hls_to_rgb((number % hues) / hues, light, 0.72)
    return round(255 * red), round(255 * green), round(255 * blue)


def class_colors(num_classes: int, *, is_dark: bool) -> Colors:
    """The colors of all classes as 0xAARRGGBB, opaque."""
    rgb = [class_color(number, num_classes, is_dark=is_dark) for number in range(num_classes)]
    return np.array([255 << 24 | r << 16 | g << 8 | b for r, g, b in rgb], np.uint32)


def blended(colors: Colors, ground: int, part: float) -> Colors:
    """Colors 0xAARRGGBB mixed with that of the ground, of which they leave a part (0..1)."""
    mixed = np.full(colors.shape, 0xFF000000, np.uint32)
    for shift in (0, 8, 16):
        above, below = (colors >> shift & 255).astype(float), ground >> shift & 255
        mixed |= (above * (1 - part) + below * part).astype(np.uint32) << np.uint32(shift)
    return mixed


class Stamp:
    """A disc of some pixels that is put at many places at once.

    Args:
        radius: In pixels.
    """

    def __init__(self, radius: float) -> None:
        reach = int(np.ceil(radius)) + 1
        y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
        covered = np.clip(radius + 0.5 - np.hypot(x, y), 0, 1)
        self.reach = reach
        self.pixels = [
            (int(dx), int(dy), float(part))
            for dx, dy, part in zip(x.ravel(), y.ravel(), covered.ravel(), strict=True)
            if part > 0
        ]
        self.pixels.sort(key=lambda pixel: pixel[2])  # the soft edge below the core of others


def stamp_points(image: Colors, at: Places, colors: Colors, radius: float, ground: int) -> None:
    """Puts a disc of some pixels at each place (n, 2) of an image (height, width), 0xAARRGGBB.

    One assignment for each pixel of a disc, whatever the number of points: a call for each point
    would take tens of milliseconds for ten thousand.
    """
    stamp, (height, width) = Stamp(radius), image.shape
    x, y = np.round(at[:, 0]).astype(np.int64), np.round(at[:, 1]).astype(np.int64)
    reach = stamp.reach
    inside = (x >= reach) & (x < width - reach) & (y >= reach) & (y < height - reach)
    flat, line = (y * width + x)[inside], image.reshape(-1)
    shades: dict[float, Colors] = {}
    for dx, dy, part in stamp.pixels:
        if part not in shades:
            shades[part] = blended(colors[inside], ground, 1 - part)
        line[flat + (dy * width + dx)] = shades[part]
