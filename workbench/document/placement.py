"""Placement of new nodes on the canvas. Qt-free.

All functions take and give positions (top-left corners in scene pixels, by node id).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.core.network.folding import arrange_blocks, refolded
from workbench.core.network.graph import Graph
from workbench.core.network.layout import (
    COLUMN_GAP,
    GAP,
    NODE_HEIGHT,
    NODE_WIDTH,
    Position,
    Size,
    node_sizes,
)
from workbench.core.network.roles import Layers
from workbench.core.projects.project import Project, View
from workbench.core.projects.project_file import graph_from_plain, graph_to_plain
from workbench.core.projects.project_reader import ProjectReader
from workbench.core.storage.json_file import JsonFault, describe, load
from workbench.errors import InputError

# view state ----------------------------------------------------------------------------------
# What of a project is only how it is looked at: which groups are folded, and where cards are.


def with_places(state: Project, places: Mapping[str, Position]) -> Project:
    """A state with other positions; zoom and center are no part of a state."""
    return replace(state, view=View(dict(places), folded=state.view.folded))


def folded_as(state: Project, folded: Collection[str], layers: Layers) -> Project:
    """A state with these of its groups folded, and no others; what is behind them makes way."""
    wanted = state.graph.groups.keys() & set(folded)
    if wanted == state.view.folded:
        return state
    sizes = node_sizes(state.graph, layers)
    places = refolded(state.graph, state.view.positions, sizes, state.view.folded, wanted)
    return replace(state, view=View(places, folded=frozenset(wanted)))


def seen_as(state: Project, other: Project, layers: Layers) -> Project:
    """A state with those of its groups folded that another state has folded, maybe under another
    name; groups that are not in the other one stay as they are.
    """
    known, own = other.graph.groups, state.graph.groups
    names = {ids: name for name, ids in known.items()}
    same = {name: name if name in known else names.get(ids) for name, ids in own.items()}
    wanted = [
        name
        for name, old in same.items()
        if (name in state.view.folded if old is None else old in other.view.folded)
    ]
    return folded_as(state, wanted, layers)


# placement -----------------------------------------------------------------------------------

Positions = Mapping[str, Position]
Card = tuple[float, float, float, float]
"""Left, top, right, bottom of a card in scene pixels."""
Way = tuple[int, int]
RIGHT, DOWN, LEFT, UP = (1, 0), (0, 1), (-1, 0), (0, -1)
WAYS: tuple[Way, ...] = (RIGHT, DOWN, LEFT, UP)
_BESIDE, _BELOW = COLUMN_GAP, 28.0
"""Room around a card that was moved aside: below it is the text of its output shape."""
_TOUCHING = 0.001
"""So little of a card over another one, in scene pixels, is rounding."""


def complete(
    graph: Graph,
    positions: Positions,
    sizes: Mapping[str, Size],
    folded: Collection[str] = (),
) -> dict[str, Position]:
    """A position for every node of the graph and for no other.

    Those that have one keep it; the others get the place that arranging would give them with
    these groups folded, as a block to the right of all that are already placed.
    """
    known = {key: place for key, place in positions.items() if key in graph.nodes}
    missing = [key for key in graph.nodes if key not in known]
    if not missing:
        return known
    arranged = arrange_blocks(graph, sizes, folded)
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


def card(position: Position, size: Size) -> Card:
    """The card with this upper left corner."""
    (x, y), (width, tall) = position, size
    return x, y, x + width, y + tall


def aside(
    block: Sequence[Card], others: Sequence[Card], ways: Iterable[Way] = WAYS
) -> tuple[float, float]:
    """The shortest move in one of some directions that takes a block of cards clear of all
    others; (0, 0) where it covers none.
    """
    if not _step(block, others, RIGHT, (0.0, 0.0), 0.0):
        return 0.0, 0.0
    moves = [_walk(block, others, way) for way in ways]
    return min(moves, key=lambda move: abs(move[0]) + abs(move[1]))


def _walk(block: Sequence[Card], others: Sequence[Card], way: Way) -> tuple[float, float]:
    """The way in one direction until there is room around the block."""
    move = (0.0, 0.0)
    while step := _step(block, others, way, move, 1.0):
        move = (move[0] + way[0] * step, move[1] + way[1] * step)
    return move


def _step(
    block: Sequence[Card],
    others: Sequence[Card],
    way: Way,
    move: tuple[float, float],
    room: float,
) -> float:
    """How far on in one direction a moved block is clear of all that it covers now; 0 where it
    covers nothing. `room`: the part of the usual distance that is kept between cards.
    """
    dx, dy, wide, high = *move, room * _BESIDE, room * _BELOW
    furthest = 0.0
    for left, top, right, bottom in block:
        for other in others:
            ahead = other[2] + wide - left - dx, other[3] + high - top - dy
            back = right + dx + wide - other[0], bottom + dy + high - other[1]
            if min(*ahead, *back) > _TOUCHING:
                across = ahead[0] if way[0] > 0 else back[0]
                along = ahead[1] if way[1] > 0 else back[1]
                furthest = max(furthest, across if way[0] else along)
    return furthest


def free_place(
    positions: Positions, sizes: Mapping[str, Size], node_id: str, wanted: Position
) -> Position:
    """`wanted`, or the nearest place for a node where it covers no other."""
    own = card(wanted, sizes.get(node_id, (NODE_WIDTH, NODE_HEIGHT)))
    dx, dy = aside([own], cards(positions, sizes, without={node_id}))
    return wanted[0] + dx, wanted[1] + dy


def cards(
    positions: Positions, sizes: Mapping[str, Size], without: Collection[str] = ()
) -> list[Card]:
    """The cards of all nodes but some."""
    usual = (NODE_WIDTH, NODE_HEIGHT)
    kept = (key for key in positions if key not in without)
    return [card(positions[key], sizes.get(key, usual)) for key in kept]


def with_new(
    graph: Graph,
    positions: Positions,
    sizes: Mapping[str, Size],
    node_id: str,
    wanted: Position | None = None,
) -> dict[str, Position]:
    """Positions with one more node: at the requested place, else by its connections; what it feeds
    makes room, and it steps aside where it would cover anything else.
    """
    places = {**positions, node_id: wanted or between(graph, positions, sizes, node_id)}
    if graph.sources(node_id) and graph.targets(node_id):
        places = make_room(graph, complete(graph, places, sizes), sizes, node_id)
    own = card(places[node_id], sizes.get(node_id, (NODE_WIDTH, NODE_HEIGHT)))
    ways = (RIGHT, DOWN, LEFT) if graph.sources(node_id) else WAYS
    dx, dy = aside([own], cards(places, sizes, without={node_id}), ways)
    places[node_id] = places[node_id][0] + dx, places[node_id][1] + dy
    return places


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


def without_gap(
    graph: Graph, positions: Positions, sizes: Mapping[str, Size], node_id: str
) -> dict[str, Position]:
    """Moves what a node has fed up, all by the same way, into the place that it leaves.

    Args:
        graph: The node is in its chain.
        positions: Upper left corner of each card, by node.
        sizes: Width and height of each card, by node.
        node_id: The node that is taken out of its chain, which is closed.
    """
    moved, after = dict(positions), graph.descendants(node_id)
    feeding = [s for s in graph.sources(node_id) if s in positions]
    room = [height(sizes, node_id) + GAP]
    for key in after:
        for source in graph.sources(key):
            for stays in feeding if source == node_id else (source,):
                if stays not in after:
                    bottom = positions[stays][1] + height(sizes, stays) + GAP
                    room.append(positions[key][1] - bottom)
    shift = min(room) if feeding else 0.0
    for key in after if shift > 0 else ():
        x, y = positions[key]
        moved[key] = (x, y - shift)
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
    return free_place(positions, sizes, node_id, (0.0, 0.0))


def corner(positions: Positions, node_ids: Iterable[str]) -> Position:
    """The top-left corner of the box around some nodes."""
    places = [positions.get(key, (0.0, 0.0)) for key in node_ids]
    return min(x for x, _ in places), min(y for _, y in places)


def height(sizes: Mapping[str, Size], node_id: str) -> float:
    """Height of a node's card."""
    return sizes[node_id][1] if node_id in sizes else NODE_HEIGHT


def _is_in_column(positions: Positions, key: str, node_id: str) -> bool:
    return abs(positions[key][0] - positions[node_id][0]) < NODE_WIDTH


# clipboard -----------------------------------------------------------------------------------
# Parts of a graph as text: what copy puts on the clipboard and paste reads. Qt-free.
#
# The text is JSON with its own format name; foreign text is rejected with a reason.

CLIPBOARD_FORMAT = "workbench-graph"
CLIPBOARD_VERSION = 1


@dataclass(frozen=True)
class Clipping:
    """Nodes, the edges among them, their positions, and the names of folded groups."""

    graph: Graph
    positions: dict[str, Position]
    folded: frozenset[str]


def copy_text(
    graph: Graph, positions: Positions, node_ids: Iterable[str], folded: Collection[str] = ()
) -> str:
    """The chosen nodes and the edges among them as text. A group stays one where all of it is
    chosen.
    """
    chosen = set(node_ids)
    part = graph.without_nodes(key for key in graph.nodes if key not in chosen)
    whole = {name for name, ids in graph.groups.items() if chosen.issuperset(ids)}
    part = part.with_nodes(
        replace(node, group="") for node in part.nodes.values() if node.group not in whole
    )
    places = {key: list(positions[key]) for key in part.nodes if key in positions}
    plain = {
        "format": CLIPBOARD_FORMAT,
        "version": CLIPBOARD_VERSION,
        "graph": graph_to_plain(part),
        "view": {"positions": places, "folded": sorted(whole & set(folded))},
    }
    return json.dumps(plain, ensure_ascii=False)


def read_text(text: str) -> Clipping:
    """What a clipboard text holds.

    Raises:
        InputError: the text is not from Workbench, or is damaged.
    """
    try:
        plain = load(text)
    except JsonFault as fault:
        raise _foreign(fault.received) from fault
    if not isinstance(plain, dict) or plain.get("format") != CLIPBOARD_FORMAT:
        raise _foreign(describe(plain))
    if plain.get("version") != CLIPBOARD_VERSION:
        raise InputError(
            "The clipboard contains layers of a newer version of Workbench.",
            where="clipboard",
            received=describe(plain.get("version")),
            expected=f"version {CLIPBOARD_VERSION}",
            fix="Update Workbench.",
        )
    part = plain.get("graph")
    graph = graph_from_plain(part if isinstance(part, dict) else {"nodes": part}, "clipboard")
    view = _view(plain, graph)
    return Clipping(graph, dict(view.positions), view.folded)


def _view(plain: dict[str, object], graph: Graph) -> View:
    """Looks of the clipping; a damaged one counts as none."""
    part = plain.get("view")
    reader = ProjectReader()
    view = reader.read_view(part, graph) if isinstance(part, dict) else View()
    return View() if reader.findings else view


def _foreign(received: str) -> InputError:
    return InputError(
        "The clipboard contains no layers.",
        where="clipboard",
        received=received,
        expected="layers copied in Workbench",
        fix="Copy some layers first. The layer of a line of Keras code is found by pasting the "
        "line into the search (Ctrl+K).",
    )
