"""How the project is trained, and a warning above it where the next run would not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.train.state import TrainState


def _make(state: TrainState) -> QWidget:
    from workbench.gui.train.memory_warning import MemoryWarning
    from workbench.gui.train.recipe import RecipePanel

    context = state.context
    panel = RecipePanel(context.document, state.background, context.theme)
    panel.add_above(MemoryWarning(context.document, context.estimator))
    panel.find_wanted.connect(state.find_asked)
    state.run_changed.connect(panel.show_run)
    state.steps_changed.connect(panel.set_steps_per_epoch)
    return panel


SPEC = PanelSpec(
    key="train_recipe",
    view="train",
    title="Training settings",
    area="right",
    order=20,
    make=_make,
    width_px=300,
    height_px=560,
)
