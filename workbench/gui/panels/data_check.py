"""What is wrong with the images, and what to do about it."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="data_check",
    view="data",
    title="Data check",
    area="bottom",
    order=40,
    make=imported("workbench.gui.data.check", "DataCheckPanel"),
)
