"""What the time of a training is spent on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.train.state import TrainState


def _make(state: TrainState) -> QWidget:
    from workbench.gui.train.time_spent import TimeSpentBox

    panel = TimeSpentBox(state.context.theme)
    state.time_changed.connect(panel.show_time)
    return panel


SPEC = PanelSpec(
    key="train_time",
    view="train",
    title="Where the time goes",
    area="right",
    order=30,
    make=_make,
    height_px=200,
)
