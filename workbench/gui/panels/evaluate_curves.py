"""ROC and precision-recall curves of an evaluation, and thresholds of the classes."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="evaluate_curves",
    view="evaluate",
    title="Curves",
    area="left",
    order=12,
    make=imported("workbench.gui.evaluate.curves", "CurvesPanel"),
)
