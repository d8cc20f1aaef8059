"""Image corruptions, one file each: SPEC. Found by walking this folder.

The What-if panel, robustness tests and the `robustness` command all alter images here and nowhere
else, so the same strengths give the same figures everywhere. A project stores only names and
strengths.

An image is altered once it is fitted to a network, before the network's own preprocessing, as in
ImageNet-C (Hendrycks and Dietterich 2019): the same for a dropped picture and a test image, and
strengths mean the same whatever size a photo has. The same image with the same strengths is the
same pixels each time.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from workbench.core.format import within_sentence
from workbench.core.registry import Registry
from workbench.errors import UsageError

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True, kw_only=True)
class AlterationSpec:
    """One way to alter an image.

    Attributes:
        key: File name, and its name in projects and on the command line.
        title: Words for people.
        order: Place among the alterations, in which they are applied: scene, light, lens, sensor,
            file.
        unit: Behind a strength, with its space.
        least, greatest: Bounds of the strength, whole numbers.
        neutral: The strength that changes nothing.
        suite: The strengths of the ready suite, measured in five steps each; () for none.
        is_fine: Small strengths differ most: a slider has most of its room for them.
        meaning: What a strength is, as a sentence.
        apply: (uint8 (height, width, 1 or 3), strength, seed of what is random) -> the same shape.
            Called by a worker only.
    """

    key: str
    title: str
    order: int
    unit: str
    least: int
    greatest: int
    neutral: int = 0
    suite: tuple[int, ...] = ()
    is_fine: bool = False
    meaning: str
    apply: Callable[[Pixels, float, int], Pixels]

    def words(self, strength: float) -> str:
        """A strength with its unit: "-15°"."""
        return f"{strength:g}{self.unit}"

    def at(self, strength: float, level: float) -> float:
        """A part 0..1 of a strength, counted from the neutral one."""
        return self.neutral + level * (strength - self.neutral)


@cache
def all_alterations() -> Registry[AlterationSpec]:
    """Every alteration by key, in the order in which they are applied."""
    return Registry.from_package("workbench.alterations", AlterationSpec)


SUITE_LEVELS = (0.2, 0.4, 0.6, 0.8, 1.0)
"""The five severities of the suite, as parts of a strength: as many as ImageNet-C has."""


def suite() -> dict[str, dict[str, float]]:
    """The ready suite: name -> the one strength of each of its tests."""
    strengths = ({spec.key: float(s)} for spec in all_alterations().values() for s in spec.suite)
    return {strength_words(each): each for each in strengths}


def checked(strengths: Mapping[str, float]) -> dict[str, float]:
    """The strengths that change something, in the order in which they are applied.

    Raises:
        UsageError: no such alteration, or a strength out of its bounds.
    """
    known = all_alterations()
    for key, strength in strengths.items():
        spec = known.get(key)
        if spec is None:
            raise UsageError("Unknown alteration.", received=key, expected=", ".join(known))
        if not spec.least <= strength <= spec.greatest:
            raise UsageError(
                f"{spec.title} is out of its bounds.",
                received=spec.words(strength),
                expected=f"{spec.words(spec.least)} to {spec.words(spec.greatest)}",
            )
    return {
        key: float(strengths[key])
        for key, spec in known.items()
        if key in strengths and strengths[key] != spec.neutral
    }


def altered(pixels: Pixels, strengths: Mapping[str, float]) -> Pixels:
    """An image, uint8 (height, width, 1 or 3), with some alterations; see `checked` for errors."""
    known = all_alterations()
    # Each image has noise of its own, which stays while other strengths change.
    seed = zlib.crc32(pixels.tobytes())
    for key, strength in checked(strengths).items():
        pixels = known[key].apply(pixels, strength, seed)
    return pixels


def strength_words(strengths: Mapping[str, float]) -> str:
    """Strengths as words: "Rotation 15°, noise 10%"; those of other versions by their keys."""
    known = all_alterations()
    ordered = sorted(strengths, key=lambda key: known[key].order if key in known else 1_000)
    parts = [
        f"{known[key].title} {known[key].words(strengths[key])}"
        if key in known
        else f"{key} {strengths[key]:g}"
        for key in ordered
    ]
    return ", ".join([*parts[:1], *map(within_sentence, parts[1:])])
