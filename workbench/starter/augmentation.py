"""Augmentation that suits a data set, by the number and the kind of its images. What is suggested
when, and why, is a table: `resources/augmentation.toml`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from workbench.assets import resource_path
from workbench.core.format import plural
from workbench.core.params import Params
from workbench.core.specs import Shape


class _Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of the table; None fits any."""

    reason: str
    layers: list[dict[str, Any]]
    channels: int | None = None
    largest_side: int | None = None
    up_to: int | None = None

    def fits(self, num_images: int, shape: Shape) -> bool:
        height, width, channels = shape
        return (
            self.channels in {None, channels}
            and (self.largest_side is None or max(height, width) <= self.largest_side)
            and (self.up_to is None or num_images <= self.up_to)
        )


@dataclass(frozen=True)
class AugmentationAdvice:
    """A chain of augmentation layers.

    Attributes:
        layers: Key and values of each, in order.
        reason: Why these, in one sentence.
    """

    layers: tuple[tuple[str, Params], ...]
    reason: str


def suggest_augmentation(num_images: int, shape: Shape) -> AugmentationAdvice:
    """What suits so many training images, as (height, width, channels) of the network's input."""
    rule = next(each for each in _rules() if each.fits(num_images, shape))
    layers = tuple(
        (str(each["key"]), {name: value for name, value in each.items() if name != "key"})
        for each in rule.layers
    )
    words = rule.reason.format(images=plural(num_images, "training image"))
    return AugmentationAdvice(layers, words)


@cache
def _rules() -> list[_Rule]:
    text = resource_path("augmentation.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["rule"], list[_Rule])
