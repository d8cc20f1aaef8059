"""Values nearer to their mean, as in fog, or further from it."""

from __future__ import annotations

import numpy as np

from workbench.alterations import AlterationSpec, Pixels


def _apply(pixels: Pixels, percent: float, _seed: int) -> Pixels:
    mean = pixels.mean(dtype=np.float64)
    return np.asarray((mean + (pixels - mean) * (1 + percent / 100)).round().clip(0, 255), np.uint8)


SPEC = AlterationSpec(
    key="contrast",
    title="Contrast",
    order=45,
    unit="%",
    least=-100,
    greatest=200,
    suite=(-75,),
    meaning="Distance from the picture's mean value: -100% is a gray picture, 100% twice as far.",
    apply=_apply,
)
