"""The image and its answer, large."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="classify_result",
    view="classify",
    title="Prediction",
    area="left",
    order=10,
    make=imported("workbench.gui.classify.result_card", "ResultCard"),
    stretch=1000,  # what a list does not need makes the picture large
    waits="picture",
)
