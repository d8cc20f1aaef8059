"""The data view: where the pictures come from, what is in them, how they are divided."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from workbench.gui.common.context import WindowContext
from workbench.gui.common.panel_spec import PanelSpec
from workbench.gui.common.sections import Sections
from workbench.gui.data.state import DataState

_SIDE_PX = 340


class DataView(QWidget):
    """What is chosen at the left, what the source holds beside it.

    Attributes:
        state: What the panels show.
    """

    def __init__(self, context: WindowContext, panels: Sequence[PanelSpec[DataState]]) -> None:
        super().__init__()
        self.state = DataState(context, self)
        self.panels = Sections(panels, self.state, self)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 16, 16, 16)
        row.setSpacing(16)
        row.addWidget(self._side())
        column = QVBoxLayout()
        self.panels.fill(column, "right", "bottom")
        row.addLayout(column, 1)

    def _side(self) -> QScrollArea:
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(14)
        self.panels.fill(column, "left")
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(side)
        scroll.setFixedWidth(_SIDE_PX)
        self.panels.group(scroll, self.panels.of("left"))
        return scroll

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.state.set_shown(is_shown=True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.state.set_shown(is_shown=False)
