"""The scores of a run in all, and for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.evaluate.state import EvaluateState


def _make(state: EvaluateState) -> QWidget:
    from workbench.gui.evaluate.classes import ClassesPanel

    return ClassesPanel(state)


SPEC = PanelSpec(
    key="evaluate_classes", view="evaluate", title="Classes", area="left", order=10, make=_make
)
