"""Which classes a run takes for which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.evaluate.state import EvaluateState


def _make(state: EvaluateState) -> QWidget:
    from workbench.gui.evaluate.confusion import ConfusionPanel

    return ConfusionPanel(state)


SPEC = PanelSpec(
    key="evaluate_confusion",
    view="evaluate",
    title="Confusion matrix",
    area="right",
    order=20,
    make=_make,
)
