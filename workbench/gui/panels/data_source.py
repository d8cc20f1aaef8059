"""Where the pictures come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.data.state import DataState


def _make(state: DataState) -> QWidget:
    from workbench.gui.data.source import DataSourceBox

    return DataSourceBox(state)


SPEC = PanelSpec(
    key="data_source",
    view="data",
    title="Data source",
    area="left",
    order=10,
    make=_make,
)
