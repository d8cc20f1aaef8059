"""The design view: palette, canvas, inspector."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMainWindow

from workbench.errors import WorkbenchError
from workbench.gui.canvas.canvas_panel import CanvasPanel
from workbench.gui.context import WindowContext
from workbench.gui.dialogs.messages import show_error
from workbench.gui.panels.inspector import InspectorPanel
from workbench.gui.panels.palette import PalettePanel
from workbench.gui.widgets.docks import make_dock

_STEP_PX = 112


class DesignView(QMainWindow):
    """Where the network is put together. The panels know only the document."""

    help_asked = Signal(str)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._document = context.document
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
        self._selected: list[str] = []
        self.canvas.selection_changed.connect(self._on_selection_changed)
        self.palette_panel.layer_chosen.connect(self.add_layer)
        self.inspector.help_asked.connect(self.help_asked)
        self.inspector.problem_chosen.connect(self.canvas.show_problem)

    def add_layer(self, kind: str) -> None:
        """Adds a layer behind the selected one, or behind the last."""
        after = self._selected[-1] if self._selected else self._last_node()
        positions = self._document.positions
        x, y = positions.get(after, (0.0, 0.0)) if after else (0.0, -_STEP_PX)
        try:
            node = self._document.add_node(kind, (x, y + _STEP_PX), after=after)
        except WorkbenchError as error:
            show_error(self, error)
            return
        self.canvas.select([node])

    def _last_node(self) -> str | None:
        order = self._document.graph.order
        return order[-1] if order else None

    def _on_selection_changed(self, node_ids: list[str]) -> None:
        self._selected = list(node_ids)
        self.inspector.show_nodes(node_ids)
