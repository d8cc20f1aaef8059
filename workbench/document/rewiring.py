"""Edits that keep the connections around a layer: taking it out of its chain, putting it
elsewhere, giving it another type. Qt-free: pure functions from a graph to a new one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.roles import Layers
from workbench.core.params import Params, check_all
from workbench.core.specs import LayerSpec
from workbench.document.graph_edits import put_into, split_edges
from workbench.errors import GraphError


def bypassed(graph: Graph, node_ids: Collection[str]) -> Graph:
    """Nodes without the edges to others: what fed their first input feeds all that they fed."""
    entering = entering_edges(graph, node_ids)
    leaving = [e for key in node_ids for e in graph.edges_from(key) if e.target not in node_ids]
    for edge in (*entering, *leaving):
        graph = graph.without_edge(edge)
    for edge in leaving if entering else ():
        if edge.target not in graph.targets(entering[0].source):
            graph = graph.with_edge(replace(edge, source=entering[0].source))
    return graph


def can_move_onto(graph: Graph, node_ids: Collection[str], edge: Edge, layers: Layers) -> bool:
    """Whether nodes can be put into an edge: the first takes an input, they are fed by at most
    one other, and are not at the edge yet.
    """
    first = next(iter(node_ids))
    spec = layers.get(graph.nodes[first].kind)
    takes_input = spec is None or spec.max_inputs != 0
    is_elsewhere = edge.source not in node_ids and edge.target not in node_ids
    feeding = {edge.source for edge in entering_edges(graph, node_ids)}
    return takes_input and is_elsewhere and len(feeding) <= 1


def entering_edges(graph: Graph, node_ids: Collection[str]) -> list[Edge]:
    """The edges from other nodes into some."""
    return [e for key in node_ids for e in graph.edges_into(key) if e.source not in node_ids]


def moved_onto(
    graph: Graph,
    node_ids: Collection[str],
    ends: tuple[str, str],
    edges: Sequence[Edge],
    layers: Layers,
) -> Graph:
    """Takes nodes out of their chain, which is closed, and puts them into edges of one source:
    that feeds what was fed before, or else the first of the `ends`, and the second feeds the rest.

    Raises:
        GraphError: the edge is gone, or the layer takes no connection.
    """
    inputs = [(edge.target, edge.port) for edge in entering_edges(graph, node_ids)]
    inputs = inputs or [(ends[0], graph.free_port(ends[0]))]
    return put_into(bypassed(graph, node_ids), edges, inputs, ends[1], layers)


def inserted_after(
    graph: Graph, node_id: str, node: Node, leaving: Iterable[Edge], layers: Layers
) -> Graph:
    """Puts a new node between a node and some of what it feeds."""
    _refuse_first(node, layers)
    for edge in leaving:
        graph = graph.without_edge(edge)
    graph = graph.with_node(node).with_edge(Edge(node_id, node.id))
    for edge in leaving:
        graph = graph.with_edge(replace(edge, source=node.id))
    return graph


def inserted_before(
    graph: Graph, node_id: str, node: Node, entering: Sequence[Edge], layers: Layers
) -> Graph:
    """Puts a new node into the edges of one source to a node, or above a node without any."""
    if entering:
        return split_edges(graph, entering, node, layers)
    return graph.with_node(node).with_edge(Edge(node.id, node_id, graph.free_port(node_id)))


def with_kind(graph: Graph, node_id: str, new: Node, layers: Layers) -> Graph:
    """Gives a node the type of `new`, and the values that its old and new type both have and
    that were not the old type's defaults. Connections and a name of its own are kept, pretrained
    weights are not.

    Raises:
        GraphError: the new type takes fewer connections than the node has.
    """
    node, spec = graph.nodes[node_id], layers[new.kind]
    _refuse_fewer_inputs(graph, node, spec)
    kept = _chosen(node, layers.get(node.kind))
    wanted = {key: value for key, value in kept.items() if key in spec.defaults()}
    checked, _ = check_all(spec.params, {**new.params, **wanted})
    has_own_name = not node.name.startswith(node.kind)
    name = node.name if has_own_name else graph.without_nodes([node_id]).new_name(new.kind)
    own = replace(node, kind=new.kind, name=name, params=checked, pretrained="")
    return graph.with_node(own)


def _chosen(node: Node, spec: LayerSpec | None) -> Params:
    """The values of a node that are not its type's defaults."""
    usual = spec.defaults() if spec is not None else {}
    return {key: value for key, value in node.params.items() if usual.get(key) != value}


def _refuse_first(node: Node, layers: Layers) -> None:
    spec = layers.get(node.kind)
    if spec is not None and spec.max_inputs == 0:
        raise GraphError(
            f"{spec.title} is the first layer and takes no connection.",
            fix="Choose another layer.",
        )


def _refuse_fewer_inputs(graph: Graph, node: Node, spec: LayerSpec) -> None:
    count, most = len(graph.edges_into(node.id)), spec.max_inputs
    if most is not None and count > most:
        takes = f"only {most} inputs" if most > 1 else "only one input" if most else "no input"
        raise GraphError(
            f"{spec.title} takes {takes}, and “{node.name}” has {count}.",
            fix="Remove a connection first, or choose another layer.",
        )
