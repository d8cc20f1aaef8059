"""A second model's answer beside that of the first."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="classify_compare",
    view="classify",
    title="Comparison",
    area="left",
    order=12,
    make=imported("workbench.gui.classify.compare", "ComparisonPanel"),
    waits="picture",
)
