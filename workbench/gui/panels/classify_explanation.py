"""Panel: the places of the image that count for a class."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="classify_explanation",
    view="classify",
    title="Explanation",
    area="right",
    order=40,
    make=imported("workbench.gui.classify.explain", "ExplanationPanel"),
    opened_by=("class_chosen",),
)
