"""Out of focus."""

from __future__ import annotations

from PIL import ImageFilter

from workbench.alterations import AlterationSpec, Pixels
from workbench.alterations._images import image_of, pixels_of


def _apply(pixels: Pixels, percent: float, _seed: int) -> Pixels:
    radius = min(pixels.shape[:2]) * percent / 100
    return pixels_of(image_of(pixels).filter(ImageFilter.GaussianBlur(radius)))


SPEC = AlterationSpec(
    key="blur",
    title="Blur",
    order=50,
    unit="%",
    least=0,
    greatest=20,
    suite=(8,),
    is_fine=True,
    meaning="Standard deviation of a Gaussian blur, as a share of the picture's shorter side.",
    apply=_apply,
)
