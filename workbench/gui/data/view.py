"""The data view: where the images come from, what is in them, how they are divided."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from workbench.gui.common.context import WindowContext
from workbench.gui.common.panel_hosts import Sections
from workbench.gui.common.view_spec import Area, PanelSpec
from workbench.gui.data.state import DataState
from workbench.gui.kit.layout import FittedArea, column, row, scroll_area

_SIDE_PX = 340
_AREAS: tuple[Area, ...] = ("top", "bottom", "right")


class DataView(QWidget):
    """What is chosen at the left, what the source holds beside it.

    Attributes:
        state: What the panels show.
    """

    def __init__(self, context: WindowContext, panels: Sequence[PanelSpec[DataState]]) -> None:
        super().__init__()
        self.state = DataState(context, self)
        self.panels = Sections(panels, self.state, self)
        beside = column(spacing=14)
        # What the check has found is above the contents: it is seen first.
        above, check, contents = map(self._group, _AREAS)
        for part, share in ((above, 0), (check, 0), (contents, 1)):
            beside.addWidget(part, share)
        for part in (above, contents):
            self.state.findings_shown.connect(part.setHidden)
        for part in (above, check):
            self.state.browsing.connect(part.setHidden)
        whole = QWidget()
        row(self._side(), (beside, 1), parent=whole, margins=16, spacing=16)
        column(FittedArea(whole), parent=self)

    def _group(self, area: Area) -> QWidget:
        group = QWidget()
        self.panels.fill(column(parent=group, spacing=14), area)
        return group

    def _side(self) -> QScrollArea:
        side = QWidget()
        below = column(parent=side, margins=(0, 0, 8, 0), spacing=14)
        self.panels.fill(below, "left")
        below.addStretch(1)
        scroll = scroll_area(side)
        scroll.setFixedWidth(_SIDE_PX)
        self.panels.group(scroll, self.panels.of("left"))
        return scroll

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.state.set_shown(is_shown=True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.state.set_shown(is_shown=False)

    def close_background(self) -> None:
        """Ends all work in the background, as the window closes."""
        self.state.close()
