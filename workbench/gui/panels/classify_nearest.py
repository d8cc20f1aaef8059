"""Panel: the training images that look most like the picture to the network."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="classify_nearest",
    view="classify",
    title="Nearest training images",
    area="left",
    order=12,
    make=imported("workbench.gui.classify.nearest", "NearestPanel"),
    waits="picture",
)
