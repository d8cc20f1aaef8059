"""The scores of a run in all, and for each class."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="evaluate_classes",
    view="evaluate",
    title="Classes",
    area="left",
    order=10,
    make=imported("workbench.gui.evaluate.confusion", "ClassesPanel"),
)
