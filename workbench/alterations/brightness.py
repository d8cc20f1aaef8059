"""Alteration: more or less light."""

from __future__ import annotations

import numpy as np

from workbench.alterations import AlterationSpec, Pixels


def _apply(pixels: Pixels, percent: float, _seed: int) -> Pixels:
    return np.asarray((pixels * (1 + percent / 100)).round().clip(0, 255), np.uint8)


SPEC = AlterationSpec(
    key="brightness",
    title="Brightness",
    order=40,
    unit="%",
    least=-100,
    greatest=200,
    suite=(-75, 100),
    meaning="All values are multiplied: -100% is black, 100% twice as bright.",
    apply=_apply,
)
