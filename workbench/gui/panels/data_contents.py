"""What the source holds: classes, counts, some images."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="data_contents",
    view="data",
    title="Contents",
    area="right",
    order=30,
    make=imported("workbench.gui.data.contents", "DataPages"),
    stretch=1,
)
