"""Accuracy on altered test images, beside the scores."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="evaluate_robustness",
    view="evaluate",
    title="Robustness",
    area="right",
    order=26,
    make=imported("workbench.gui.evaluate.robustness", "RobustnessPanel"),
)
