"""Only the middle of the picture, enlarged."""

from __future__ import annotations

from PIL import Image

from workbench.alterations import AlterationSpec, Pixels
from workbench.alterations._images import image_of, pixels_of


def _apply(pixels: Pixels, percent: float, _seed: int) -> Pixels:
    height, width = pixels.shape[:2]
    x, y = width * percent / 200, height * percent / 200
    cropped = image_of(pixels).resize(
        (width, height), Image.Resampling.BILINEAR, box=(x, y, width - x, height - y)
    )
    return pixels_of(cropped)


SPEC = AlterationSpec(
    key="crop",
    title="Crop",
    order=20,
    unit="%",
    least=0,
    greatest=80,
    suite=(50,),
    meaning="Share of width and height that is cut off, half on each side; the rest is enlarged.",
    apply=_apply,
)
