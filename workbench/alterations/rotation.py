"""The picture turned about its center."""

from __future__ import annotations

from PIL import Image

from workbench.alterations import AlterationSpec, Pixels
from workbench.alterations._images import edge_color, image_of, pixels_of


def _apply(pixels: Pixels, degrees: float, _seed: int) -> Pixels:
    color = edge_color(pixels)
    turned = image_of(pixels).rotate(
        -degrees,  # Pillow turns counterclockwise
        Image.Resampling.BILINEAR,
        fillcolor=color[0] if len(color) == 1 else color,
    )
    return pixels_of(turned)


SPEC = AlterationSpec(
    key="rotation",
    title="Rotation",
    order=10,
    unit="°",
    least=-180,
    greatest=180,
    suite=(45,),
    meaning="Degrees clockwise. The empty corners get the median color of the picture's edge.",
    apply=_apply,
)
