"""Panel: the confusion matrix."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="evaluate_confusion",
    view="evaluate",
    title="Confusion matrix",
    area="right",
    order=20,
    make=imported("workbench.gui.evaluate.confusion", "ConfusionPanel"),
    opened_by=("cell_pointed",),
)
