"""How the project is trained, and a warning above it where the next run would not fit."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="train_recipe",
    view="train",
    title="Training settings",
    area="right",
    order=20,
    make=imported("workbench.gui.train.recipe", "RecipePanel"),
    width_px=300,
    height_px=560,
)
