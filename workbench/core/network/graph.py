"""The network as a value: nodes and edges, directed and acyclic. Every change gives a new
Graph; nothing is ever changed in place, so undo is keeping the old one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from types import MappingProxyType
from typing import Any, Literal, get_args

from workbench.errors import GraphError

_EMPTY: Mapping[str, Any] = MappingProxyType({})

Training = Literal["always", "fine_tuning", "never"]
"""When a layer learns: in the whole training, in its fine-tuning phase alone, or not at all."""

TRAININGS: tuple[Training, ...] = get_args(Training)


@dataclass(frozen=True)
class Node:
    """One layer on the canvas.

    Attributes:
        id: Unique in its graph, never shown, never reused.
        kind: Key of a LayerSpec; an unknown key is kept as it is (placeholder).
        name: Unique in its graph, shown to people and given to Keras.
        params: Values by parameter key; a missing key means the default.
        group: Name of the group of layers that it belongs to, such as a backbone; "" for none.
        pretrained: Whose weights it starts with, as BACKBONE/LAYER; "" for random ones.
        training: When it learns.
        extra: Fields of a project file that this version does not define; written back.
    """

    id: str
    kind: str
    name: str
    params: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    extra: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    group: str = ""
    pretrained: str = ""
    training: Training = "always"

    def __hash__(self) -> int:
        return hash((self.id, self.kind, self.name))


@dataclass(frozen=True, order=True)
class Edge:
    """A connection from a node's output to the input number `port` of another node."""

    source: str
    target: str
    port: int = 0


@dataclass(frozen=True)
class Graph:
    """Nodes by id in the order they were added, and edges in sorted order."""

    nodes: Mapping[str, Node] = field(default_factory=lambda: _EMPTY)
    edges: tuple[Edge, ...] = ()

    @classmethod
    def of(cls, nodes: Iterable[Node], edges: Iterable[Edge] = ()) -> Graph:
        """Builds a graph and checks it once.

        Raises:
            GraphError: doubled ids, edges to unknown nodes, taken ports, or a cycle.
        """
        by_id: dict[str, Node] = {}
        for node in nodes:
            if node.id in by_id:
                raise GraphError(f"Two layers have the id “{node.id}”.", where=node.id)
            by_id[node.id] = node
        nodes_only = cls(by_id)
        taken: dict[tuple[str, int], Edge] = {}
        for edge in edges:
            nodes_only._check_edge(edge, taken.get((edge.target, edge.port)))
            taken[edge.target, edge.port] = edge
        graph = cls(by_id, tuple(sorted(taken.values())))
        if graph.has_cycle():
            raise GraphError(
                "The connections form a cycle.", fix="Remove one connection of the cycle."
            )
        return graph

    @cached_property
    def _incoming(self) -> Mapping[str, tuple[Edge, ...]]:
        edges: dict[str, list[Edge]] = {}
        for edge in self.edges:
            edges.setdefault(edge.target, []).append(edge)
        return {node: tuple(sorted(e, key=lambda e: e.port)) for node, e in edges.items()}

    @cached_property
    def _outgoing(self) -> Mapping[str, tuple[Edge, ...]]:
        edges: dict[str, list[Edge]] = {}
        for edge in self.edges:
            edges.setdefault(edge.source, []).append(edge)
        return {node: tuple(e) for node, e in edges.items()}

    def edges_into(self, node_id: str) -> tuple[Edge, ...]:
        """Edges that end at a node, in the order of its ports."""
        return self._incoming.get(node_id, ())

    def edges_from(self, node_id: str) -> tuple[Edge, ...]:
        """Edges that start at a node."""
        return self._outgoing.get(node_id, ())

    def sources(self, node_id: str) -> tuple[str, ...]:
        """Ids of the nodes that feed a node, in the order of its ports."""
        return tuple(edge.source for edge in self.edges_into(node_id))

    def targets(self, node_id: str) -> tuple[str, ...]:
        """Ids of the nodes that a node feeds."""
        return tuple(edge.target for edge in self.edges_from(node_id))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Node ids, each after all that feed it; nodes on a cycle are left out."""
        waiting = {node: len(self.edges_into(node)) for node in self.nodes}
        ready = deque(node for node, count in waiting.items() if count == 0)
        order: list[str] = []
        while ready:
            node = ready.popleft()
            order.append(node)
            for edge in self.edges_from(node):
                waiting[edge.target] -= 1
                if waiting[edge.target] == 0:
                    ready.append(edge.target)
        return tuple(order)

    @cached_property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Name of each group -> ids of its nodes, each after all that feed it."""
        groups: dict[str, list[str]] = {}
        for key in self.order:
            if name := self.nodes[key].group:
                groups.setdefault(name, []).append(key)
        return {name: tuple(ids) for name, ids in groups.items()}

    def has_cycle(self) -> bool:
        """True when some nodes feed themselves."""
        return len(self.order) != len(self.nodes)

    def ancestors(self, node_id: str) -> frozenset[str]:
        """Ids of all nodes that a node depends on, without itself."""
        return _reached(node_id, self.sources)

    def descendants(self, node_id: str) -> frozenset[str]:
        """Ids of all nodes that depend on a node, without itself."""
        return _reached(node_id, self.targets)

    def free_port(self, node_id: str) -> int:
        """The lowest input number of a node that no edge ends at."""
        taken = {edge.port for edge in self.edges_into(node_id)}
        return next(port for port in range(len(taken) + 1) if port not in taken)

    # changes: each returns a new graph -------------------------------------------------

    def with_node(self, node: Node) -> Graph:
        """Adds a node, or replaces the one with the same id."""
        return self.with_nodes((node,))

    def with_nodes(self, nodes: Iterable[Node]) -> Graph:
        """Adds nodes, or replaces those with the same ids."""
        return Graph({**self.nodes, **{node.id: node for node in nodes}}, self.edges)

    def with_params(self, node_id: str, **values: Any) -> Graph:
        """Changes some parameter values of a node."""
        node = self._node(node_id)
        return self.with_node(replace(node, params={**node.params, **values}))

    def without_nodes(self, node_ids: Iterable[str]) -> Graph:
        """Removes nodes and the edges at them."""
        gone = set(node_ids)
        nodes = {key: node for key, node in self.nodes.items() if key not in gone}
        edges = (e for e in self.edges if e.source not in gone and e.target not in gone)
        return Graph(nodes, tuple(edges))

    def with_edge(self, edge: Edge) -> Graph:
        """Adds an edge.

        Raises:
            GraphError: unknown node, taken port, an edge that is there already, or one
                that would close a cycle; the message names both nodes.
        """
        into = self.edges_into(edge.target)
        self._check_edge(edge, next((e for e in into if e.port == edge.port), None))
        if edge.source == edge.target or edge.source in self.descendants(edge.target):
            source, target = self._node(edge.source), self._node(edge.target)
            raise GraphError(
                f"“{source.name}” already depends on “{target.name}”: this connection would "
                "create a cycle.",
                where=f"{source.name} → {target.name}",
                fix="Connect to a layer further down.",
            )
        return Graph(self.nodes, tuple(sorted((*self.edges, edge))))

    def without_edge(self, edge: Edge) -> Graph:
        """Removes an edge; the other edges keep their ports."""
        return Graph(self.nodes, tuple(e for e in self.edges if e != edge))

    def _node(self, node_id: str) -> Node:
        node = self.nodes.get(node_id)
        if node is None:
            raise GraphError(f"There is no layer “{node_id}”.", where=node_id)
        return node

    def _check_edge(self, edge: Edge, other: Edge | None) -> None:
        """Rejects an edge between unknown nodes, or at an input that `other` has taken."""
        source, target = self._node(edge.source), self._node(edge.target)
        if other is not None:
            raise GraphError(
                f"Input {edge.port + 1} of “{target.name}” is already connected to "
                f"“{self._node(other.source).name}”.",
                where=f"{source.name} → {target.name}",
                fix="Remove that connection first, or use a merge layer such as Add.",
            )

    # names -----------------------------------------------------------------------------

    def new_id(self) -> str:
        """An id that no node of this graph has: "n1", "n2", ..."""
        numbers = [int(key[1:]) for key in self.nodes if re.fullmatch(r"n[0-9]{1,9}", key)]
        return f"n{max(numbers, default=0) + 1}"

    def new_name(self, stem: str) -> str:
        """A name that no node of this graph has: "conv2d", "conv2d_2", ..."""
        return free_name(stem, {node.name for node in self.nodes.values()})


def _reached(node_id: str, step: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """Ids of all nodes that one or more steps lead to, without the one they start at."""
    seen: set[str] = set()
    waiting = [node_id]
    while waiting:
        for node in step(waiting.pop()):
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return frozenset(seen - {node_id})


def free_name(stem: str, taken: Collection[str]) -> str:
    """The stem, or the stem with the first number from 2 on, that is not taken."""
    numbered = (f"{stem}_{number}" for number in count(2))
    return stem if stem not in taken else next(name for name in numbered if name not in taken)


# diff ----------------------------------------------------------------------------------------
# What changed between two graphs: the canvas repaints only this.


@dataclass(frozen=True)
class GraphDiff:
    """The difference of two graphs: node ids and edges, each in the order of its graph.

    Attributes:
        added_nodes: Ids only in the new graph.
        removed_nodes: Ids only in the old graph.
        changed_nodes: Ids in both that differ in anything.
        added_edges, removed_edges: Edges only in the new, only in the old graph.
    """

    added_nodes: tuple[str, ...] = ()
    removed_nodes: tuple[str, ...] = ()
    changed_nodes: tuple[str, ...] = ()
    added_edges: tuple[Edge, ...] = ()
    removed_edges: tuple[Edge, ...] = ()

    def __bool__(self) -> bool:
        """True when anything differs."""
        nodes = self.added_nodes or self.removed_nodes or self.changed_nodes
        return bool(nodes or self.added_edges or self.removed_edges)


def diff(old: Graph, new: Graph) -> GraphDiff:
    """What has to be done to `old` to make it `new`."""
    old_edges, new_edges = frozenset(old.edges), frozenset(new.edges)
    return GraphDiff(
        added_nodes=tuple(key for key in new.nodes if key not in old.nodes),
        removed_nodes=tuple(key for key in old.nodes if key not in new.nodes),
        changed_nodes=tuple(
            key
            for key, node in new.nodes.items()
            if key in old.nodes and old.nodes[key] is not node and old.nodes[key] != node
        ),
        added_edges=tuple(edge for edge in new.edges if edge not in old_edges),
        removed_edges=tuple(edge for edge in old.edges if edge not in new_edges),
    )


# names ---------------------------------------------------------------------------------------
# Names of nodes as Keras layers can bear them.

_ALLOWED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_.\-]+")


def is_valid_name(name: str) -> bool:
    """True when Keras can take the name as it is."""
    return _ALLOWED.fullmatch(name) is not None


def valid_name(name: str, kind: str = "layer") -> str:
    """The nearest name that Keras takes; `kind` where nothing is left."""
    if is_valid_name(name):
        return name
    text = _FORBIDDEN.sub("_", name).strip("_.-")[:100]
    if not text:
        text = _FORBIDDEN.sub("_", kind).strip("_.-")[:100]
    return text or "layer"


def keras_names(graph: Graph) -> dict[str, str]:
    """The layer name of each node by id: valid, and different for each node.

    Node names that are valid and not doubled stay as they are.
    """
    taken = {node.name for node in graph.nodes.values() if is_valid_name(node.name)}
    used: set[str] = set()
    names: dict[str, str] = {}
    for node in graph.nodes.values():
        name = valid_name(node.name, node.kind)
        if name != node.name or name in used:
            name = free_name(name, taken | used)
        used.add(name)
        names[node.id] = name
    return names


# removal -------------------------------------------------------------------------------------
# Removing layers and connections: one rule for the Delete key, for fixes and for programs.


def removed(graph: Graph, node_ids: Iterable[str], edges: Iterable[Edge] = ()) -> Graph:
    """Removes nodes and edges, and closes the gap in a chain.

    Neighboring removed nodes count as one piece. A piece that one node fed, and that had exactly
    one edge out, was a link of a chain: its neighbors are connected, unless they are
    already, or one of these edges was itself to be removed.
    """
    gone = [key for key in graph.nodes if key in set(node_ids)]
    cut = set(edges)
    healed: list[Edge] = []
    for piece in pieces(graph, gone):
        entering = [e for key in piece for e in graph.edges_into(key) if e.source not in piece]
        leaving = [e for key in piece for e in graph.edges_from(key) if e.target not in piece]
        is_link = len({edge.source for edge in entering}) == len(leaving) == 1
        if is_link and not cut & {*entering, *leaving}:
            healed.append(Edge(entering[0].source, leaving[0].target, leaving[0].port))
    after = graph.without_nodes(gone)
    for edge in cut:
        after = after.without_edge(edge)
    for edge in healed:
        if edge.target not in after.targets(edge.source):
            after = after.with_edge(edge)
    return after


def pieces(graph: Graph, node_ids: list[str]) -> list[set[str]]:
    """Connected parts of the graph that only these nodes make up."""
    waiting, pieces = set(node_ids), []
    for start in node_ids:
        if start not in waiting:
            continue
        waiting.discard(start)
        piece, rest = {start}, [start]
        while rest:
            key = rest.pop()
            near = {*graph.sources(key), *graph.targets(key)} & waiting
            waiting -= near
            piece |= near
            rest.extend(near)
        pieces.append(piece)
    return pieces
