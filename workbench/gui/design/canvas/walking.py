"""Walking from node to node by the arrow keys."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt

from workbench.gui.design.canvas.node_item import NodeItem
from workbench.gui.design.canvas.scene import GraphScene

ARROWS = {
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
}


def next_node(scene: GraphScene, current: str | None, step: tuple[int, int]) -> str | None:
    """The node that an arrow leads to.

    Up and down follow the edges, nearest column first; without an edge that way, and to
    the sides, the nearest card in that direction is taken.

    Args:
        scene: The canvas.
        current: Where one is; None for nowhere.
        step: (-1, 0) left, (1, 0) right, (0, -1) up, (0, 1) down.
    """
    if current is None or current not in scene.nodes:
        places = {key: item.pos().toTuple()[::-1] for key, item in scene.nodes.items()}
        return min(places, key=places.__getitem__, default=None)
    graph = scene.graph
    here = _center(scene.nodes[current])
    follow = graph.targets if step[1] > 0 else graph.sources
    if step[1] and (linked := follow(current)):
        return min(linked, key=lambda key: abs(_center(scene.nodes[key]).x() - here.x()))
    return nearest_towards(scene, current, step)


def nearest_towards(scene: GraphScene, current: str, step: tuple[int, int]) -> str | None:
    """The nearest card on that side: sideways distance counts double."""
    here = _center(scene.nodes[current])
    costs: dict[str, float] = {}
    for key, item in scene.nodes.items():
        away = _center(item) - here
        ahead = away.x() * step[0] + away.y() * step[1]
        if key != current and ahead > 1:
            costs[key] = ahead + 2 * (abs(away.x() * step[1]) + abs(away.y() * step[0]))
    return min(costs, key=costs.__getitem__, default=None)


def _center(item: NodeItem) -> QPointF:
    return item.card_rect().center()
