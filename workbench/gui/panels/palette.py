"""The layer types, to be added."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="palette",
    view="design",
    title="Layers",
    area="left",
    order=10,
    make=imported("workbench.gui.design.palette", "PalettePanel"),
    opened_by=("search_asked",),
    width_px=228,
)
