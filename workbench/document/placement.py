"""Where new nodes go on the canvas. Qt-free.

All functions take and give positions (top-left corners in scene pixels, by node id).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.core.network.graph import Graph
from workbench.core.network.layout import GAP, NODE_HEIGHT, NODE_WIDTH, Position, Size, arrange

Positions = Mapping[str, Position]


def complete(graph: Graph, positions: Positions, sizes: Mapping[str, Size]) -> dict[str, Position]:
    """A position for every node of the graph and for no other.

    Those that have one keep it; the others get the place that arranging would give them,
    as a block to the right of all that are already placed.
    """
    known = {key: place for key, place in positions.items() if key in graph.nodes}
    missing = [key for key in graph.nodes if key not in known]
    if not missing:
        return known
    arranged = arrange(graph, sizes)
    if not known:
        return dict(arranged)
    right = max(x for x, _ in known.values()) + NODE_WIDTH + GAP
    left = min(arranged[key][0] for key in missing)
    shift = max(0.0, right - left)
    known.update({key: (arranged[key][0] + shift, arranged[key][1]) for key in missing})
    return known


def below(positions: Positions, sizes: Mapping[str, Size], node_id: str) -> Position:
    """The place straight under a node."""
    x, y = positions.get(node_id, (0.0, 0.0))
    return x, y + height(sizes, node_id) + GAP


def free_place(positions: Positions, wanted: Position) -> Position:
    """`wanted`, or the nearest place down and to the right of it where no node is."""
    x, y = wanted
    taken = {(round(px), round(py)) for px, py in positions.values()}
    while (round(x), round(y)) in taken:
        x, y = x + 24.0, y + 24.0
    return x, y


def make_room(
    graph: Graph, positions: Positions, sizes: Mapping[str, Size], node_id: str
) -> dict[str, Position]:
    """Moves what a node feeds down until it is clear of the node; all by the same way."""
    moved = dict(positions)
    after = graph.descendants(node_id)
    bottom = positions[node_id][1] + height(sizes, node_id) + GAP
    tops = [positions[key][1] for key in after if _is_in_column(positions, key, node_id)]
    shift = bottom - min(tops, default=bottom)
    if shift > 0:
        for key in after:
            x, y = positions[key]
            moved[key] = (x, y + shift)
    return moved


def between(
    graph: Graph, positions: Positions, sizes: Mapping[str, Size], node_id: str
) -> Position:
    """A place for a new node: under what feeds it, else above what it feeds."""
    sources = [key for key in graph.sources(node_id) if key in positions]
    if sources:
        return below(positions, sizes, max(sources, key=lambda key: positions[key][1]))
    targets = [key for key in graph.targets(node_id) if key in positions]
    if targets:
        x, y = positions[targets[0]]
        return x, y - height(sizes, node_id) - GAP
    return free_place(positions, (0.0, 0.0))


def corner(positions: Positions, node_ids: Iterable[str]) -> Position:
    """The top-left corner of the box around some nodes."""
    places = [positions.get(key, (0.0, 0.0)) for key in node_ids]
    return min(x for x, _ in places), min(y for _, y in places)


def height(sizes: Mapping[str, Size], node_id: str) -> float:
    """Height of a node's card."""
    return sizes[node_id][1] if node_id in sizes else NODE_HEIGHT


def _is_in_column(positions: Positions, key: str, node_id: str) -> bool:
    return abs(positions[key][0] - positions[node_id][0]) < NODE_WIDTH
