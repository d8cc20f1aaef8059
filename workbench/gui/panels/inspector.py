"""The settings and numbers of what is selected."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="inspector",
    view="design",
    title="Inspector",
    area="right",
    order=20,
    make=imported("workbench.gui.design.inspector", "InspectorPanel"),
    opened_by=("node_activated",),
    width_px=296,
)
