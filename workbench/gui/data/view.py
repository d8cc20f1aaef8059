"""The data view: where the images come from, what is in them, how they are divided."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from workbench.gui.common.context import WindowContext
from workbench.gui.common.panel_spec import PanelSpec
from workbench.gui.common.sections import Sections
from workbench.gui.data.state import DataState
from workbench.gui.kit.layout import column, row, scroll_area

_SIDE_PX = 340


class DataView(QWidget):
    """What is chosen at the left, what the source holds beside it.

    Attributes:
        state: What the panels show.
    """

    def __init__(
        self,
        context: WindowContext,
        panels: Sequence[PanelSpec[DataState]],
        train: Callable[[], None],
    ) -> None:
        super().__init__()
        self.state = DataState(context, self)
        self.state.train_wanted.connect(train)
        self.panels = Sections(panels, self.state, self)
        beside, above, contents = column(spacing=14), QWidget(), QWidget()
        self.panels.fill(column(parent=above, spacing=14), "top")
        self.panels.fill(column(parent=contents, spacing=14), "right")
        beside.addWidget(above)
        self.panels.fill(beside, "bottom")  # above: what it has found is seen first
        beside.addWidget(contents, 1)
        for part in (above, contents):
            self.state.findings_shown.connect(part.setHidden)
        row(self._side(), (beside, 1), parent=self, margins=16, spacing=16)

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
        """The window closes: nothing is worked out any more."""
        self.state.close()
