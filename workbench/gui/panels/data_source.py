"""Panel: the source of the images."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="data_source",
    view="data",
    title="Data source",
    area="left",
    order=10,
    make=imported("workbench.gui.data.source", "DataSourceBox"),
)
