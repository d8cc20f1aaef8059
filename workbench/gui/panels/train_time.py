"""What the time of a training is spent on."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="train_time",
    view="train",
    title="Where the time goes",
    area="right",
    order=30,
    make=imported("workbench.gui.train.time_spent", "TimeSpentBox"),
    height_px=110,
)
