"""The noise of a sensor in bad light."""

from __future__ import annotations

import numpy as np

from workbench.alterations import AlterationSpec, Pixels


def _apply(pixels: Pixels, percent: float, seed: int) -> Pixels:
    random = np.random.default_rng(seed).standard_normal(pixels.shape, np.float32)
    return np.asarray((pixels + random * (2.55 * percent)).round().clip(0, 255), np.uint8)


SPEC = AlterationSpec(
    key="noise",
    title="Noise",
    order=60,
    unit="%",
    least=0,
    greatest=50,
    suite=(25,),
    meaning="Standard deviation of Gaussian noise, as a share of the range of values.",
    apply=_apply,
)
