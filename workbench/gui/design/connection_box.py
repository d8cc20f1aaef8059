"""What the inspector shows of a selected connection: both layers, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.core.checks.analysis import Analysis
from workbench.core.format import count, shape_text
from workbench.core.network.graph import Edge, Graph
from workbench.core.network.roles import Layers
from workbench.core.network.text import node_text
from workbench.gui.design.layer_facts import Facts
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row


class ConnectionBox(QWidget):
    """Box with the start and the end of a connection, with buttons.

    Signals:
        insert_asked(), remove_asked(): A button was clicked.
    """

    insert_asked = Signal()
    remove_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.words = plain_label(wrap=True)
        self.insert = button("Insert layer…")
        self.remove = button("")
        self.insert.clicked.connect(self.insert_asked)
        self.remove.clicked.connect(self.remove_asked)
        buttons = (row(each, STRETCH) for each in (self.insert, self.remove))
        column(self.words, *buttons, parent=self, spacing=8)

    def show_edges(self, edges: tuple[Edge, ...], graph: Graph, layers: Layers) -> None:
        """Shows one connection, or what can be done with several."""
        is_one = len(edges) == 1
        self.words.setVisible(is_one)
        self.insert.setVisible(is_one)
        self.remove.setText("Remove connection" if is_one else "Remove connections")
        if is_one:
            ends = (graph.nodes[key] for key in (edges[0].source, edges[0].target))
            start, end = (node_text(node, layers) for node in ends)
            self.words.setText(f"From {start}\nto {end}")


def edges_heading(edges: tuple[Edge, ...]) -> str:
    """The inspector's heading for selected connections."""
    return "Connection" if len(edges) == 1 else f"{count(len(edges))} connections"


def edges_facts(edges: tuple[Edge, ...], graph: Graph, analysis: Analysis) -> Facts:
    """What flows through one connection, and into which of several inputs."""
    if len(edges) != 1:
        return [("Connections", count(len(edges)))]
    (edge,) = edges
    shape = analysis.shapes.get(edge.source)
    facts = [("Shape", shape_text(shape) if shape else "unknown")]
    if (inputs := len(graph.edges_into(edge.target))) > 1:
        facts.append(("Into input", f"{count(edge.port + 1)} of {count(inputs)}"))
    return facts
