"""How far the probabilities can be trusted, and from where on an answer is "unknown"."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="evaluate_calibration",
    view="evaluate",
    title="Calibration",
    area="left",
    order=17,
    make=imported("workbench.gui.evaluate.calibration", "CalibrationPanel"),
)
