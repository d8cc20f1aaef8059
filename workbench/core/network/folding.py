"""A graph with some of its groups drawn as one card each: what the canvas shows.

Folding changes nothing of the graph. A card is a node of the shown graph with an id that no layer
can have. A connection that is shown is one of the graph's, or all of those from one layer into a
folded group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.layout import GAP, NODE_HEIGHT, NODE_WIDTH, Position, Size, arrange

_MARK = "\x1d"
"""Begins the id of a card. Ids of layers are made of visible characters."""

_NO_MEMBERS: Mapping[str, tuple[str, ...]] = MappingProxyType({})
_NO_EDGES: Mapping[Edge, tuple[Edge, ...]] = MappingProxyType({})


def card_id(group: str) -> str:
    """The id of the card that a folded group has."""
    return _MARK + group


def is_card(node_id: str) -> bool:
    """Whether an id is that of a card, not of a layer."""
    return node_id.startswith(_MARK)


def group_of(card: str) -> str:
    """The name of the group whose card has this id."""
    return card.removeprefix(_MARK)


@dataclass(frozen=True)
class Folding:
    """What is shown of a graph.

    Attributes:
        full: The graph.
        graph: The graph with cards in place of the layers of folded groups; connections within
            such a group are left out. Inputs of a card are counted from 0.
        members: Card id -> ids of the layers that it stands for, each after all that feed it.
    """

    full: Graph = field(default_factory=Graph)
    graph: Graph = field(default_factory=Graph)
    members: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NO_MEMBERS)
    _edges: Mapping[Edge, tuple[Edge, ...]] = field(default_factory=lambda: _NO_EDGES)

    @classmethod
    def of(cls, graph: Graph, names: Iterable[str]) -> Folding:
        """Folds groups, in the order of their names. One whose card would be part of a cycle stays
        open: something outside lies between its layers.
        """
        wanted = sorted(name for name in set(names) if name in graph.groups)
        if not wanted:
            return cls(graph, graph)
        whole = _folded(graph, wanted)
        if not whole.graph.has_cycle():
            return whole
        kept: list[str] = []
        for name in wanted:
            if not _folded(graph, [*kept, name]).graph.has_cycle():
                kept.append(name)
        return _folded(graph, kept)

    @cached_property
    def card_of(self) -> Mapping[str, str]:
        """Id of each hidden layer -> id of the card that stands for it."""
        return {key: card for card, ids in self.members.items() for key in ids}

    @cached_property
    def _shown_edges(self) -> Mapping[Edge, Edge]:
        return {edge: shown for shown, edges in self._edges.items() for edge in edges}

    def shown_id(self, node_id: str) -> str:
        """The card that shows a layer: its own, or that of its group."""
        return self.card_of.get(node_id, node_id)

    def shown_ids(self, node_ids: Iterable[str]) -> tuple[str, ...]:
        """The cards that show some layers, each once."""
        return tuple(dict.fromkeys(map(self.shown_id, node_ids)))

    def layers_of(self, shown_ids: Iterable[str]) -> tuple[str, ...]:
        """Ids of the layers that some cards stand for, also of groups that are open by now."""
        groups = self.full.groups
        return tuple(
            key
            for each in shown_ids
            for key in (groups.get(group_of(each), ()) if is_card(each) else (each,))
        )

    def edges_of(self, shown: Edge) -> tuple[Edge, ...]:
        """The connections of the graph that a shown one is: several from one layer to the layers
        behind a card, one everywhere else.
        """
        return self._edges.get(shown, (shown,))

    def edge_of(self, shown: Edge) -> Edge:
        """The first of them."""
        return self.edges_of(shown)[0]

    def shown_edge(self, edge: Edge) -> Edge | None:
        """How a connection of the graph is shown; None within a folded group."""
        if not self.members:
            return edge
        return self._shown_edges.get(edge)

    def entry(self, shown_id: str) -> str:
        """The layer that a new connection to a card ends at: the one that its connections end at,
        else the first.
        """
        entering = self.graph.edges_into(shown_id)
        ends = {real.target for edge in entering for real in self.edges_of(edge)}
        return self._end(shown_id, ends, 0)

    def exit(self, shown_id: str) -> str:
        """The layer that a new connection from a card starts at: the one that its connections
        start at, else the last.
        """
        starts = {self.edge_of(edge).source for edge in self.graph.edges_from(shown_id)}
        return self._end(shown_id, starts, -1)

    def _end(self, shown_id: str, used: Collection[str], place: int) -> str:
        members = self.members.get(shown_id)
        if members is None:
            return shown_id
        return next(iter(used)) if len(used) == 1 else members[place]


def between(graph: Graph, node_ids: Collection[str]) -> tuple[str, ...]:
    """Ids of the other nodes that some of these nodes feed, and that feed some of them."""
    below: set[str] = set()
    above: set[str] = set()
    for key in graph.order:
        if any(source in node_ids or source in below for source in graph.sources(key)):
            below.add(key)
    for key in reversed(graph.order):
        if any(target in node_ids or target in above for target in graph.targets(key)):
            above.add(key)
    return tuple(key for key in graph.order if key in below & above and key not in node_ids)


def _folded(graph: Graph, names: Iterable[str]) -> Folding:
    members = {card_id(name): graph.groups[name] for name in names}
    card_of = {key: card for card, ids in members.items() for key in ids}
    nodes: dict[str, Node] = {}
    for key, node in graph.nodes.items():
        card = card_of.get(key)
        if card is None:
            nodes[key] = node
        elif card not in nodes:
            nodes[card] = Node(card, _MARK, node.group, group=node.group)
    edges: dict[Edge, tuple[Edge, ...]] = {}
    feeding: dict[str, dict[str, int]] = {card: {} for card in members}
    for edge in graph.edges:
        source, target = card_of.get(edge.source, edge.source), card_of.get(edge.target)
        if target is None:
            edges[Edge(source, edge.target, edge.port)] = (edge,)
        elif source != target:
            port = feeding[target].setdefault(edge.source, len(feeding[target]))
            shown = Edge(source, target, port)
            edges[shown] = (*edges.get(shown, ()), edge)
    return Folding(graph, Graph(nodes, tuple(sorted(edges))), members, edges)


# blocks --------------------------------------------------------------------------------------
# Groups in the plane: the card of a folded one, the frame around the layers of an open one, and
# how the rest makes way when one becomes the other.
#
# A group has no place of its own: its card is where the head of its frame would be.

GROUP_HEIGHT = 70.0
"""Height of the card of a folded group."""

FRAME_TOP = 46.0
"""Distance from the upper side of a frame, which its title is on, to its first layer."""

TITLE_HEIGHT = 30.0
FRAME_SIDE = 18.0
FRAME_BOTTOM = 34.0
"""Room below the last layer for the text of its output shape."""

_LEAST_GAP = GAP / 2
"""Between cards that close a gap: less than usual, for those that were that near before."""

_USUAL = (NODE_WIDTH, NODE_HEIGHT)

Places = Mapping[str, Position]
Sizes = Mapping[str, Size]


@dataclass(frozen=True)
class Area:
    """A rectangle of the scene."""

    left: float
    top: float
    right: float
    bottom: float

    def moved(self, dx: float, dy: float) -> Area:
        """The area moved right and down."""
        return Area(self.left + dx, self.top + dy, self.right + dx, self.bottom + dy)

    def below(self, other: Area) -> float | None:
        """How far it could go up before it covers another one; None where that is not above it."""
        is_above = other.bottom <= self.top and other.left < self.right and other.right > self.left
        return max(0.0, self.top - other.bottom - _LEAST_GAP) if is_above else None


def frame_of(ids: Iterable[str], places: Places, sizes: Sizes) -> Area:
    """The frame around some layers."""
    cards = [(places[key], sizes.get(key, _USUAL)) for key in ids]
    return Area(
        min(x for (x, _), _ in cards) - FRAME_SIDE,
        min(y for (_, y), _ in cards) - FRAME_TOP,
        max(x + width for (x, _), (width, _) in cards) + FRAME_SIDE,
        max(y + height for (_, y), (_, height) in cards) + FRAME_BOTTOM,
    )


def card_place(ids: tuple[str, ...], places: Places) -> Position:
    """Top-left corner of the card of a folded group: above its first layer."""
    return places[ids[0]][0], min(places[key][1] for key in ids) - FRAME_TOP


@dataclass(frozen=True)
class Blocks:
    """Cards of a folding with their places and sizes.

    Attributes:
        folding: Which groups count as one card.
        places: Upper left corner of each card, and of each layer that is not behind one.
        sizes: Width and height of the same; an open group reaches from its first layer's left
            side to the right of its frame.
    """

    folding: Folding
    places: Places
    sizes: Sizes

    @classmethod
    def of(
        cls, folding: Folding, places: Places, sizes: Sizes, opened: Collection[str] = ()
    ) -> Blocks:
        """The blocks of layers that have these places and sizes.

        Args:
            folding: Which groups count as one.
            places: Upper left corners of layers; a group that has a layer without a place is left
                out.
            sizes: Widths and heights of layers.
            opened: Names of the groups that are a frame, not a card.
        """
        hidden = folding.card_of
        cards = {key: place for key, place in places.items() if key not in hidden}
        extents = {key: size for key, size in sizes.items() if key not in hidden}
        for card, ids in folding.members.items():
            extents[card] = NODE_WIDTH, GROUP_HEIGHT
            if not all(key in places for key in ids):
                continue
            left, top = cards[card] = card_place(ids, places)
            if group_of(card) in opened:
                frame = frame_of(ids, places, sizes)
                extents[card] = frame.right - left, frame.bottom - top
        return cls(folding, cards, extents)

    def moved(self, cards: Places, places: Places) -> dict[str, Position]:
        """The places of the layers after cards were moved; `places` are those before."""
        after = dict(places)
        for key, (x, y) in cards.items():
            ids = self.folding.members.get(key)
            if ids is None:
                after[key] = (x, y)
            elif key in self.places:
                dx, dy = x - self.places[key][0], y - self.places[key][1]
                if dx or dy:
                    after.update({m: (places[m][0] + dx, places[m][1] + dy) for m in ids})
        return after


def refolded(
    graph: Graph, places: Places, sizes: Sizes, before: Collection[str], after: Collection[str]
) -> dict[str, Position]:
    """The places after groups were folded and opened: what is behind or beside one makes way, or
    closes the gap, as one piece each. Going back gives the old places again.
    """
    shown = [Folding.of(graph, names) for names in (before, after)]
    old, new = ({group_of(card) for card in each.members} for each in shown)
    result = dict(places)
    current = set(old)
    for name in (*sorted(new - old, reverse=True), *sorted(old - new)):
        others = Folding.of(graph, graph.groups.keys() - {name})
        blocks = Blocks.of(others, result, sizes, graph.groups.keys() - current)
        ids = graph.groups[name]
        x, y = card_place(ids, result)
        card = Area(x, y, x + NODE_WIDTH, y + GROUP_HEIGHT)
        frame = frame_of(ids, result, sizes)
        ways = (frame, card) if name in new else (card, frame)
        result = blocks.moved(_made_way(blocks, set(ids), *ways), result)
        current ^= {name}
    return result


def _made_way(blocks: Blocks, ids: set[str], old: Area, new: Area) -> dict[str, Position]:
    """Positions of the other cards after an area has become another one with the same top: those
    below follow its lower side, as far as what is above them lets them, those beside its sides.
    """
    areas = {
        key: Area(x, y, x + blocks.sizes[key][0], y + blocks.sizes[key][1])
        for key, (x, y) in blocks.places.items()
        if key not in ids
    }
    below = {key for key, area in areas.items() if area.top >= old.bottom}
    for key in areas.keys() - below:
        area = areas[key]
        if area.bottom > old.top and area.left >= old.right:
            areas[key] = area.moved(new.right - old.right, 0)
        elif area.bottom > old.top and area.right <= old.left:
            areas[key] = area.moved(new.left - old.left, 0)
    down = new.bottom - old.bottom
    still = [areas[key] for key in areas.keys() - below]
    room = [each.below(area) for area in still for each in map(areas.__getitem__, below)]
    down = max([down, *(-space for space in room if space is not None)])
    for key in below:
        areas[key] = areas[key].moved(0, down)
    return {key: (area.left, area.top) for key, area in areas.items()}


def arrange_blocks(graph: Graph, sizes: Sizes, folded: Collection[str]) -> dict[str, Position]:
    """Lays a network out from top to bottom: the layers of each group by themselves, then the
    groups, as cards or with their frames, among the other layers.
    """
    whole = Folding.of(graph, graph.groups)
    if not whole.members:
        return arrange(graph, sizes)
    extents = {key: size for key, size in sizes.items() if key not in whole.card_of}
    inner: dict[str, dict[str, Position]] = {}
    for card, ids in whole.members.items():
        part = graph.without_nodes(graph.nodes.keys() - set(ids))
        inner[card] = arrange(part, sizes)
        frame, middle = frame_of(ids, inner[card], sizes), inner[card][ids[0]][0] + NODE_WIDTH / 2
        half = max(middle - frame.left, frame.right - middle)
        is_card = group_of(card) in folded
        height = GROUP_HEIGHT if is_card else frame.bottom - frame.top
        extents[card] = (NODE_WIDTH if is_card else 2 * half), height
    outer = arrange(whole.graph, extents)
    places = {key: place for key, place in outer.items() if key not in whole.members}
    for card, ids in whole.members.items():
        x, y = card_place(ids, inner[card])
        dx = round(outer[card][0] + (extents[card][0] - NODE_WIDTH) / 2 - x)
        dy = round(outer[card][1] - y)
        places.update({key: (x + dx, y + dy) for key, (x, y) in inner[card].items()})
    return {key: places[key] for key in graph.nodes}
