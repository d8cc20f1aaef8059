"""LiteRT with 8-bit integers throughout."""

from __future__ import annotations

from workbench.exports._lite import integers_only, lite_spec

SPEC = lite_spec(
    "litert_int8",
    "LiteRT, int8",
    "All numbers are 8-bit integers, images and answers too: the smallest and fastest, also for "
    "microcontrollers. The range of each layer is measured on training images.",
    integers_only,
    order=3,
    is_integer=True,
    is_calibrated_by=200,
)
