"""What the network answers if the picture is altered."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="classify_what_if",
    view="classify",
    title="What-if",
    area="left",
    order=15,
    make=imported("workbench.gui.classify.what_if", "WhatIfPanel"),
    waits="picture",
)
