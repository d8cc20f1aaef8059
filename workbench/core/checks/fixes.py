"""Fixes: changes to a graph that fix a problem. All work on the graph as it is when they
are applied, and leave it alone when the node is gone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.core.checks.problems import Fix
from workbench.core.format import list_text
from workbench.core.network.graph import Edge, Graph, Node, removed
from workbench.core.network.roles import Layers, shape_params, specs_of
from workbench.core.params import Param
from workbench.core.specs import Role, Shape

REMOVE = "remove"
"""Key of the fix that removes a layer."""


def new_node(graph: Graph, kind: str, params: Mapping[str, Any] | None = None) -> Node:
    """A node of a kind with an id and a name that the graph does not have yet."""
    return Node(graph.new_id(), kind, graph.new_name(kind), dict(params or {}))


def insert_before(graph: Graph, node_id: str, added: Node, port: int = 0) -> Graph:
    """Puts a node into the edge that ends at an input of `node_id`."""
    for edge in graph.edges_into(node_id):
        if edge.port == port:
            graph = graph.without_edge(edge).with_node(added)
            graph = graph.with_edge(Edge(edge.source, added.id))
            return graph.with_edge(Edge(added.id, node_id, port))
    return graph


def append_after(graph: Graph, node_id: str, added: Node) -> Graph:
    """Puts a node behind another."""
    return graph.with_node(added).with_edge(Edge(node_id, added.id))


def _on_node(node_id: str, change: Callable[[Graph], Graph]) -> Callable[[Graph], Graph]:
    return lambda graph: change(graph) if node_id in graph.nodes else graph


def insert_fix(
    node_id: str,
    kind: str,
    layers: Layers,
    *,
    params: Mapping[str, Any] | None = None,
    port: int = 0,
    title: str = "",
) -> Fix:
    """Insert a layer before a node."""

    def change(graph: Graph) -> Graph:
        return insert_before(graph, node_id, new_node(graph, kind, params), port)

    words = title or f"Insert {layers[kind].title}"
    return Fix(f"insert_{kind}", words, _on_node(node_id, change))


def append_fix(node_id: str, kind: str, *, params: Mapping[str, Any], title: str) -> Fix:
    """Add a layer behind a node."""

    def change(graph: Graph) -> Graph:
        return append_after(graph, node_id, new_node(graph, kind, params))

    return Fix(f"append_{kind}", title, _on_node(node_id, change))


def set_fix(node_id: str, param: Param, value: Any, *, title: str = "") -> Fix:
    """Set one parameter of a node."""
    words = title or f"Set {param.title.lower()} to {param.show(param.check(value))}"
    return Fix(
        f"set_{param.key}",
        words,
        _on_node(node_id, lambda graph: graph.with_params(node_id, **{param.key: value})),
    )


def drop_param_fix(node_id: str, key: str) -> Fix:
    """Remove a stored value, so that the default holds."""

    def change(graph: Graph) -> Graph:
        node = graph.nodes[node_id]
        params = {name: value for name, value in node.params.items() if name != key}
        return graph.with_node(replace(node, params=params))

    return Fix(f"drop_{key}", f"Remove “{key}”", _on_node(node_id, change))


def rename_fix(node_id: str, name: str) -> Fix:
    """Give a node another name."""

    def change(graph: Graph) -> Graph:
        free = graph.new_name(name)
        return graph.with_node(replace(graph.nodes[node_id], name=free))

    return Fix("rename", f"Rename to “{name}”", _on_node(node_id, change))


def remove_fix(node_id: str, name: str) -> Fix:
    """Remove a node as the Delete key does: a chain that loses a link is closed."""
    return Fix(REMOVE, f"Remove “{name}”", lambda graph: removed(graph, [node_id]))


def connect_fix(source: str, target: str, name: str) -> Fix:
    """Connect two nodes, at the first free input."""

    def change(graph: Graph) -> Graph:
        if source not in graph.nodes or source in {target, *graph.descendants(target)}:
            return graph
        return graph.with_edge(Edge(source, target, graph.free_port(target)))

    return Fix(f"connect_{source}", f"Connect to “{name}”", _on_node(target, change))


def add_input_fixes(graph: Graph, layers: Layers, wanted: Shape | None) -> tuple[Fix, ...]:
    """An Input before the layer that most others follow, or one that leads nowhere yet; `wanted`
    is its shape.
    """
    spec = specs_of(layers, Role.INPUT)[0]
    params = shape_params(spec, wanted)
    starts = [node for node in graph.nodes if not graph.edges_into(node)]
    first = max(starts, key=lambda key: len(graph.descendants(key)), default=None)

    def change(target: str | None, graph: Graph) -> Graph:
        added = new_node(graph, spec.key, params)
        graph = graph.with_node(added)
        if target is not None and target in graph.nodes:
            graph = graph.with_edge(Edge(added.id, target, graph.free_port(target)))
        return graph

    targets = dict.fromkeys((first, None))
    return tuple(Fix("add_input", f"Add {spec.title}", partial(change, key)) for key in targets)


def disconnect_fix(edges: Sequence[Edge], names: Sequence[str]) -> Fix:
    """Remove edges; `names` are those of the nodes where they start."""

    def change(graph: Graph) -> Graph:
        for edge in edges:
            graph = graph.without_edge(edge)
        return graph

    words = list_text([f"“{name}”" for name in dict.fromkeys(names)])
    return Fix("_".join(["disconnect", *(edge.source for edge in edges)]),
               f"Disconnect {words}", change)  # fmt: skip


def change_kind_fix(node_id: str, kind: str, layers: Layers) -> Fix:
    """Turn a node into another type, keeping its values."""
    return Fix(
        f"change_to_{kind}",
        f"Change to {layers[kind].title}",
        _on_node(node_id, lambda graph: graph.with_node(replace(graph.nodes[node_id], kind=kind))),
    )


def move_behind_input_fix(node_id: str, input_id: str, name: str) -> Fix:
    """Take a node out of its place and put it right behind Input."""

    def change(graph: Graph) -> Graph:
        if input_id not in graph.nodes:
            return graph
        node, sources = graph.nodes[node_id], graph.sources(node_id)
        outgoing = graph.edges_from(node_id)
        graph = graph.without_nodes([node_id])
        if sources:
            for edge in outgoing:
                graph = graph.with_edge(Edge(sources[0], edge.target, edge.port))
        moved = graph.edges_from(input_id)
        graph = graph.with_node(node)
        for edge in moved:
            graph = graph.without_edge(edge).with_edge(Edge(node_id, edge.target, edge.port))
        return graph.with_edge(Edge(input_id, node_id))

    return Fix("move_behind_input", f"Move “{name}” right after Input", _on_node(node_id, change))


def spec_fixes(keys: Sequence[str], node: Node, layers: Layers) -> tuple[Fix, ...]:
    """The fixes of one node that a layer's ShapeProblem names by key: "insert_<kind>" and
    "set_<param>:<JSON value>".
    """
    found: list[Fix] = []
    params = {param.key: param for param in layers[node.kind].params}
    for key in keys:
        if key.startswith("insert_"):
            found.append(insert_fix(node.id, key.removeprefix("insert_"), layers))
        elif key.startswith("set_"):
            name, _, text = key.removeprefix("set_").partition(":")
            found.append(set_fix(node.id, params[name], json.loads(text)))
    return tuple(found)
