"""All images of the run as points in a plane."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="evaluate_map",
    view="evaluate",
    title="Map",
    area="right",
    order=25,
    make=imported("workbench.gui.evaluate.map", "MapPanel"),
)
