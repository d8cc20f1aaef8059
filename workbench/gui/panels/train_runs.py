"""The list of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.train.state import TrainState


def _make(state: TrainState) -> QWidget:
    from workbench.gui.train.runs.run_list import RunListPanel

    panel = RunListPanel(state.context.theme, state.context.library, state.overlays)
    panel.asked.connect(state.runs_asked)
    return panel


SPEC = PanelSpec(
    key="train_runs", view="train", title="Runs", area="left", order=10, make=_make, width_px=240
)
