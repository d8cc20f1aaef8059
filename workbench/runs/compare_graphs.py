"""What differs between two networks, in words: layers, their values, connections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.core.network.diff import diff
from workbench.core.network.graph import Edge, Graph, Node, Training
from workbench.core.network.text import node_text
from workbench.layers import all_layers

_TRAININGS: Mapping[Training, str] = {
    "always": "always",
    "fine_tuning": "fine-tuning only",
    "never": "never (frozen)",
}
"""`Node.training` in words."""

_CONNECTION = "Connection"
THERE, NOT_THERE = "present", "absent"


@dataclass(frozen=True)
class Row:
    """One thing of two runs, in words.

    Attributes:
        title: What it is.
        left, right: How it is in the one and in the other.
        difference: By how much, where there is a measure for it: "+1.25 points", "2.1×".
    """

    title: str
    left: str
    right: str
    difference: str = ""

    @property
    def is_connection(self) -> bool:
        """Whether it is a connection, no layer."""
        return self.title.startswith(_CONNECTION)

    @property
    def is_equal(self) -> bool:
        """True when both are the same."""
        return self.left == self.right


def graph_rows(left: Graph, right: Graph) -> Iterator[Row]:
    """What makes `left` into `right`: layers, then edges; not their places."""
    right = _paired(left, right)
    found = diff(left, right)
    for node_id in found.removed_nodes:
        yield Row(_node_words(left.nodes[node_id]), THERE, NOT_THERE)
    for node_id in found.added_nodes:
        yield Row(_node_words(right.nodes[node_id]), NOT_THERE, THERE)
    for node_id in found.changed_nodes:
        yield from _node_rows(left.nodes[node_id], right.nodes[node_id])
    gone, new = {*found.removed_nodes}, {*found.added_nodes}
    for edge in found.removed_edges:
        if not {edge.source, edge.target} & gone:  # else it went with its layer
            yield Row(_edge_words(edge, left), THERE, NOT_THERE)
    for edge in found.added_edges:
        if not {edge.source, edge.target} & new:
            yield Row(_edge_words(edge, right), NOT_THERE, THERE)


def _paired(left: Graph, right: Graph) -> Graph:
    """`right` with the ids of the layers of `left` that its own are.

    Ids are counted from the first layer on: in another network the same id is another layer. One
    layer of two networks is known by its id, name and type, then by its name and type, then by id
    and type (it was renamed), then by id and name (its type was changed).
    """
    ids: dict[str, str] = {}
    for key in _IDENTITIES:
        free = {key(node): node.id for node in left.nodes.values() if node.id not in ids.values()}
        for node in right.nodes.values():
            if node.id not in ids and key(node) in free:
                ids[node.id] = free.pop(key(node))
    taken = {*left.nodes}
    for node_id in right.nodes:
        if node_id not in ids:
            ids[node_id] = node_id if node_id not in taken else f"{node_id} of the other"
    nodes = (replace(node, id=ids[node.id]) for node in right.nodes.values())
    edges = (Edge(ids[each.source], ids[each.target], each.port) for each in right.edges)
    return Graph.of(nodes, edges)


_IDENTITIES: tuple[Callable[[Node], tuple[str, ...]], ...] = (
    lambda node: (node.id, node.name, node.kind),
    lambda node: (node.name, node.kind),
    lambda node: (node.id, node.kind),
    lambda node: (node.id, node.name),
)


def _node_words(node: Node) -> str:
    return node_text(node, all_layers())


def _edge_words(edge: Edge, graph: Graph) -> str:
    names = [graph.nodes[key].name for key in (edge.source, edge.target)]
    place = f" (input {edge.port + 1})" if edge.port else ""
    return f"{_CONNECTION} {names[0]} → {names[1]}{place}"


def _node_rows(left: Node, right: Node) -> Iterator[Row]:
    title = _node_words(right)
    if left.kind != right.kind:
        yield Row(f"{title}: type", _node_words(left), title)
        return
    if left.name != right.name:
        yield Row(f"{title}: name", left.name, right.name)
    if left.training != right.training:
        yield Row(f"{title}: training", _TRAININGS[left.training], _TRAININGS[right.training])
    if left.pretrained != right.pretrained:
        weights = [node.pretrained or "random" for node in (left, right)]
        yield Row(f"{title}: initial weights", *weights)
    spec = all_layers().get(left.kind)
    known = {param.key: param for param in spec.params} if spec is not None else {}
    for key in {**dict(left.params), **dict(right.params)}:
        param = known.get(key)
        default = param.default if param is not None else None
        a, b = left.params.get(key, default), right.params.get(key, default)
        if _plain(a) != _plain(b):
            words = [param.show(v) if param is not None else str(v) for v in (a, b)]
            yield Row(f"{title}: {param.title if param is not None else key}", *words)


def _plain(value: Any) -> Any:
    """A value with lists as tuples: as a file has it, and as the program has it."""
    return tuple(value) if isinstance(value, list) else value
