"""Accuracy on slices of the evaluated images."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="evaluate_slices",
    view="evaluate",
    title="Slices",
    area="left",
    order=16,
    make=imported("workbench.gui.evaluate.slices", "SlicesPanel"),
)
