"""The design view: palette, canvas, inspector."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMainWindow

from workbench.gui.common.context import WindowContext
from workbench.gui.design.canvas_panel import CanvasPanel
from workbench.gui.design.inspector import InspectorPanel
from workbench.gui.design.palette import PalettePanel
from workbench.gui.kit.docks import make_dock


class DesignView(QMainWindow):
    """Where the network is put together. The panels know only the document."""

    help_asked = Signal(str)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self.setObjectName("design_view")
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockNestingEnabled(True)
        self.canvas = CanvasPanel(context)
        self.palette_panel = PalettePanel(context)
        self.inspector = InspectorPanel(context)
        self.setCentralWidget(self.canvas)
        left = make_dock(context.theme, "palette", "Layers", self.palette_panel)
        right = make_dock(context.theme, "inspector", "Inspector", self.inspector)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, left)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, right)
        self.palette_panel.setMinimumWidth(180)
        self.inspector.setMinimumWidth(250)
        self.resizeDocks([left, right], [228, 296], Qt.Orientation.Horizontal)
        self.canvas.selection_changed.connect(self.inspector.show_nodes)
        self.canvas.node_activated.connect(self._on_node_activated)
        self.palette_panel.layer_chosen.connect(self.add_layer)
        self.palette_panel.left.connect(self.canvas.view.setFocus)
        self.inspector.help_asked.connect(self.help_asked)
        self.inspector.problem_chosen.connect(self.canvas.show_problem)

    def add_layer(self, kind: str) -> None:
        """Adds a layer behind the selected one, or behind the last."""
        self.canvas.add_layer(kind)

    def _on_node_activated(self, node_id: str) -> None:
        self.inspector.show_nodes([node_id])
        self.inspector.start_editing()
