"""How the pictures are divided into training, validation and test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.data.state import DataState


def _make(state: DataState) -> QWidget:
    from workbench.gui.data.split import DataSplitPanel

    return DataSplitPanel(state)


SPEC = PanelSpec(
    key="data_split",
    view="data",
    title="Split",
    area="left",
    order=20,
    make=_make,
)
