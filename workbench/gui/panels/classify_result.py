"""The picture and its answer, large."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.classify.state import ClassifyState


def _make(state: ClassifyState) -> QWidget:
    from workbench.gui.classify.result_card import ResultCard

    return ResultCard(state)


SPEC = PanelSpec(
    key="classify_result",
    view="classify",
    title="Prediction",
    area="left",
    order=10,
    make=_make,
)
