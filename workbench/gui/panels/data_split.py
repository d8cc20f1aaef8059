"""How the images are divided into training, validation and test."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="data_split",
    view="data",
    title="Split",
    area="left",
    order=20,
    make=imported("workbench.gui.data.split", "DataSplitPanel"),
)
