"""What the source holds: classes, counts, some images."""

from __future__ import annotations

from workbench.gui.common.panel_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="data_contents",
    view="data",
    title="Contents",
    area="right",
    order=30,
    make=imported("workbench.gui.data.pages", "DataPages"),
    stretch=1,
)
