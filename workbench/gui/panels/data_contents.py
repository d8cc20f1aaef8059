"""What the source holds: classes, counts, some pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.data.state import DataState


def _make(state: DataState) -> QWidget:
    from workbench.gui.data.contents import DataContentsPanel

    return DataContentsPanel(state)


SPEC = PanelSpec(
    key="data_contents",
    view="data",
    title="Contents",
    area="right",
    order=30,
    make=_make,
    stretch=1,
)
