"""Saved as a JPEG file and read again."""

from __future__ import annotations

import io

from PIL import Image

from workbench.alterations import AlterationSpec, Pixels
from workbench.alterations._images import image_of, pixels_of


def _apply(pixels: Pixels, quality: float, _seed: int) -> Pixels:
    file = io.BytesIO()
    image_of(pixels).save(file, "JPEG", quality=round(quality))
    with Image.open(file, formats=("JPEG",)) as image:
        return pixels_of(image)


SPEC = AlterationSpec(
    key="jpeg",
    title="JPEG quality",
    order=70,
    unit="",
    least=1,
    greatest=100,
    neutral=100,
    suite=(5,),
    meaning="Quality of a JPEG file, 1 to 100; at 100 the picture stays as it is.",
    apply=_apply,
)
