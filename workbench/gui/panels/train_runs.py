"""The list of runs."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="train_runs",
    view="train",
    title="Runs",
    area="left",
    order=10,
    make=imported("workbench.gui.train.runs.run_list", "RunListPanel"),
    width_px=264,
)
