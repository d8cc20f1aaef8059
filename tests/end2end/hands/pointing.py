"""A connection is clicked at several heights and deleted; the right button opens menus of what
is under the pointer, while a layer elsewhere is selected.

Run by test_pointing.py; `python -m tests.end2end.hands.pointing [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QApplication, QMenu

from tests.end2end.user import Designer, at_the_window
from workbench.core.network.graph import Edge, Graph
from workbench.gui.shell.main_window import MainWindow
from workbench.templates import find_template

ZOOMS = (1.0, 0.8)
HEIGHTS = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
"""Parts of the length of a connection, from its start."""


class Clicker(Designer):
    """Points at the connection between the last pooling layer and Flatten of LeNet-5."""

    def open_lenet(self) -> None:
        """The connection, and the convolution above it, are in sight."""
        self.window.files.new(find_template("lenet5").project)
        self.look_at_design()
        self.layer = self.node("conv2d", 1)  # near, so that nothing scrolls between the clicks
        (self.edge,) = self.document.graph.edges_into(self.node("flatten"))

    def zoom(self, zoom: float) -> None:
        """Shows the connection in the middle."""
        self.canvas.view.set_zoom(zoom)
        self.canvas.view.centerOn(self.canvas.scene.nodes[self.edge.source])
        self.robot.pause(200)

    def point_on_edge(self, part: float) -> QPoint:
        """A place on the connection, `part` of its length from its start."""
        top, bottom = (QPointF(*spot) for spot in self.canvas.scene.edges[self.edge].route)
        return self.on_screen(top + (bottom - top) * part)

    def selected(self) -> tuple[list[str], list[Edge]]:
        """The layers and the connections that are selected."""
        return self.canvas.scene.selected_ids(), self.canvas.scene.selected_edges()

    # the left button, Delete --------------------------------------------------------------

    def delete_edge(self, part: float) -> dict[str, bool]:
        """With a layer selected: clicks the connection, presses Delete, and undoes that."""
        self.select(self.layer)
        before = self.document.graph
        self.robot.click(self.point_on_edge(part))
        is_selected = self.robot.sees(lambda: self.selected() == ([], [self.edge]))
        self.robot.key("Delete")
        self.robot.sees(lambda: self.document.graph != before)
        seen = {"is_selected": is_selected, "is_deleted_alone": self.lacks_only_the_edge(before)}
        self.shot(f"deleted_at_{part}")
        self.robot.key("ctrl+z")
        self.robot.wait(lambda: self.document.graph == before, "the undo")
        return seen

    def lacks_only_the_edge(self, before: Graph) -> bool:
        """Whether the connection is gone and nothing else."""
        after = self.document.graph
        return after.nodes == before.nodes and set(before.edges) - set(after.edges) == {self.edge}

    # the right button ---------------------------------------------------------------------

    def menu_at(self, point: QPoint, name: str) -> dict[str, object]:
        """With a layer selected: what the right button offers, and what is selected then."""
        self.select(self.layer)
        self.robot.click(point, button=3)
        self.robot.wait(lambda: isinstance(QApplication.activePopupWidget(), QMenu), "a menu")
        self.menu = QApplication.activePopupWidget()
        self.shot(name, self.menu)
        texts = (action.text().partition("\t")[0] for action in self.menu.actions())
        nodes, edges = self.selected()
        return {
            "offers": [text.replace("&", "") for text in texts if text],
            "layers": nodes,
            "is_edge_selected": edges == [self.edge],
        }

    def choose(self, word: str) -> None:
        """Clicks an entry of the menu."""
        entry = next(a for a in self.menu.actions() if word in a.text().replace("&", ""))
        self.robot.click(self.menu.mapToGlobal(self.menu.actionGeometry(entry).center()))
        self.robot.wait(lambda: QApplication.activePopupWidget() is None, "the menu closed")

    def close_menu(self) -> None:
        """Presses Escape."""
        self.robot.key("Escape")
        self.robot.wait(lambda: QApplication.activePopupWidget() is None, "the menu closed")


def act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """Every height at every zoom; the menus of the empty canvas and of the connection."""
    user = Clicker(window, shots)
    user.open_lenet()
    deleted = []
    for zoom in ZOOMS:
        user.zoom(zoom)
        deleted += [{"zoom": zoom, "part": part, **user.delete_edge(part)} for part in HEIGHTS]
    ground = user.menu_at(user.canvas.view.viewport().mapToGlobal(QPoint(40, 200)), "ground")
    user.close_menu()
    connection = user.menu_at(user.point_on_edge(0.5), "connection")
    before = user.document.graph
    user.choose("Remove connection")
    user.robot.sees(lambda: user.document.graph != before)
    return {
        "deleted": deleted,
        "ground": ground,
        "connection": connection,
        "is_removed_alone": user.lacks_only_the_edge(before),
    }


if __name__ == "__main__":
    at_the_window(act, sys.argv[1:])
