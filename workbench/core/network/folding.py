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
