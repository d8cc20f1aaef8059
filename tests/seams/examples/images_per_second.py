"""A curve: how fast a run trains."""

from __future__ import annotations

from workbench.curves import CurveSpec

SPEC = CurveSpec(
    key="images_per_second",
    title="Images per second",
    order=50,
    unit="images/s",
    text=lambda value: f"{value:,.0f}",
    batch=lambda event: event.images_per_second,
    epoch=lambda event: event.images_per_second,
    place="below",
    batch_tag="batch_images_per_second",
)
