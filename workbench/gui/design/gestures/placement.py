"""Where a new layer goes: on a line, behind an open end, or free. One rule for all ways."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from workbench.core.network.graph import Edge
from workbench.core.network.layout import BRANCH_GAP, GAP, NODE_WIDTH, Position, node_size
from workbench.core.specs import LayerSpec
from workbench.gui.design.canvas.node_item import NodeItem
from workbench.gui.design.canvas.scene import GraphScene

_REACH_DOWN = 280.0
_REACH_ACROSS = 250.0
_NEAR_EDGE = 14.0


@dataclass(frozen=True)
class Placement:
    """A place for a new layer.

    Attributes:
        position: Top-left corner of its card.
        after: Node whose output feeds it, or None.
        edge: Edge that it is inserted on, or None.
    """

    position: Position
    after: str | None = None
    edge: Edge | None = None


def card_height(spec: LayerSpec, scene: GraphScene) -> float:
    """Height of a new card of this kind."""
    return node_size(spec.key, spec.defaults(), scene.layers)[1]


def place_at(scene: GraphScene, spec: LayerSpec, point: QPointF) -> Placement:
    """The place for a layer that is dropped at a scene point.

    On a line: inserted there. On a card: behind it. Below an open end: next. Else free.
    """
    height = card_height(spec, scene)
    free = Placement((round(point.x() - NODE_WIDTH / 2), round(point.y() - height / 2)))
    if spec.max_inputs == 0:
        return free
    edge = _edge_near(scene, point)
    if edge is not None:
        return on_edge(scene, edge, height)
    item = scene.node_at(point)
    if item is not None:
        return behind(scene, item.node_id, height)
    above = open_end_above(scene, point)
    return free if above is None else behind(scene, above.node_id, height)


def on_edge(scene: GraphScene, edge: Edge, height: float) -> Placement:
    """The place on a line: below its source; the document moves what follows out of the way."""
    middle = scene.edges[edge].middle_point()
    source, target = scene.nodes[edge.source], scene.nodes[edge.target]
    is_column = abs(source.pos().x() - target.pos().x()) < NODE_WIDTH / 2
    x = target.pos().x() if is_column else middle.x() - NODE_WIDTH / 2
    y = max(source.box.bottom + GAP, middle.y() - height / 2)
    return Placement((round(x), round(y)), edge=edge)


def behind(scene: GraphScene, node_id: str, height: float) -> Placement:
    """The place behind a node: on its only outgoing line, or below it."""
    outgoing = scene.document.graph.edges_from(node_id)
    if len(outgoing) == 1:
        return on_edge(scene, outgoing[0], height)
    return Placement(_free_below(scene, scene.nodes[node_id], height), after=node_id)


def behind_last(scene: GraphScene) -> str | None:
    """The lowest open end: where a network grows when nothing is selected."""
    ends = [item for item in scene.nodes.values() if item.facts.is_open_below]
    return max(ends, key=lambda item: item.pos().y()).node_id if ends else None


def open_end_above(scene: GraphScene, point: QPointF) -> NodeItem | None:
    """The nearest node above a point whose output feeds nothing yet."""
    costs: dict[NodeItem, float] = {}
    for item in scene.nodes.values():
        port = item.output_point()
        down, across = point.y() - port.y(), abs(point.x() - port.x())
        if item.facts.is_open_below and 0 <= down <= _REACH_DOWN and across <= _REACH_ACROSS:
            costs[item] = down + across
    return min(costs, key=costs.__getitem__, default=None)


def _edge_near(scene: GraphScene, point: QPointF) -> Edge | None:
    """The line under a point, or one that passes a little beside it."""
    item = scene.edge_at(point)
    if item is None:
        area = QRectF(point.x() - _NEAR_EDGE, point.y() - 4, 2 * _NEAR_EDGE, 8)
        item = next((e for e in scene.edges.values() if e.shape().intersects(area)), None)
    return None if item is None else item.edge


def _free_below(scene: GraphScene, item: NodeItem, height: float) -> Position:
    """A place under a card, moved to the right until it covers nothing."""
    has_others = bool(scene.document.graph.edges_from(item.node_id))
    x, y = item.pos().x(), item.box.bottom + (BRANCH_GAP if has_others else GAP)
    while any(
        box.left < x + NODE_WIDTH + 20
        and box.right + 20 > x
        and box.top < y + height
        and box.bottom > y
        for box in scene.boxes().values()
    ):
        x += NODE_WIDTH + 40
    return round(x), round(y)
