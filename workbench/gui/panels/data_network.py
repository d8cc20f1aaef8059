"""Panel: the network that is trained on the images, and why; Train."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="data_network",
    view="data",
    title="Network",
    area="top",
    order=10,
    make=imported("workbench.gui.data.network", "NetworkBox"),
)
