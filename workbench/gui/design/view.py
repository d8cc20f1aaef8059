"""The design view: the canvas, and panels around it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow

from workbench.gui.common.context import WindowContext
from workbench.gui.common.panel_hosts import Docks
from workbench.gui.common.view_spec import PanelSpec
from workbench.gui.design.canvas_panel import CanvasPanel
from workbench.gui.design.state import DesignState

_CANVAS_PX = 280
"""Room for the buttons on the canvas."""


class DesignView(QMainWindow):
    """The view in which the network is built; its panels share `state`."""

    def __init__(self, context: WindowContext, panels: Sequence[PanelSpec[DesignState]]) -> None:
        super().__init__()
        self.setObjectName("design_view")
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockNestingEnabled(True)
        self.state = DesignState(context, self)
        self.canvas = CanvasPanel(context)
        self.setCentralWidget(self.canvas)
        self.panels = Docks(self, context.theme, panels, self.state, middle_px=_CANVAS_PX)
        self.canvas.scene.selection_changed.connect(self.state.selection_changed)
        self.canvas.view.node_activated.connect(self.state.node_activated)
        self.canvas.view.data_asked.connect(self.state.data_asked)
        self.canvas.help_asked.connect(self.state.help_asked)
        self.canvas.maps_asked.connect(self.state.maps_asked)
        self.state.layer_chosen.connect(self.canvas.adder.add)
        self.state.backbone_chosen.connect(self.canvas.adder.add_backbone)
        self.state.insert_asked.connect(self.canvas.adder.search_on)
        self.state.find_asked.connect(self.canvas.find_bar.open)
        self.state.canvas_asked.connect(self.canvas.view.setFocus)
        self.state.problem_chosen.connect(self.canvas.show_problem)
        self.state.problem_hovered.connect(self.canvas.scene.look_at)
