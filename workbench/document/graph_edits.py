"""What an edit makes of a graph. Qt-free: pure functions from a graph to a new one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Edge, Graph, Node, free_name, pieces
from workbench.core.network.roles import Layers, shape_params
from workbench.core.params import Params, check_all
from workbench.core.specs import LayerSpec, Shape
from workbench.errors import GraphError, ParamError, WorkbenchError


def title_of(node: Node, layers: Layers) -> str:
    """The layer type of a node in words; an unknown one is named by its key."""
    spec = layers.get(node.kind)
    return spec.title if spec else node.kind


def params_words(node: Node, keys: Iterable[str], layers: Layers) -> str:
    """Settings of a node as its form names them: "kernel size, strides"."""
    spec = layers.get(node.kind)
    titles = {param.key: param.title.lower() for param in spec.params} if spec else {}
    return ", ".join(titles.get(key, key) for key in keys)


def new_node(graph: Graph, kind: str, layers: Layers, images: Shape | None = None) -> Node:
    """A node of a kind with its defaults, an id and a name that are free in `graph`.

    An Input gets the shape of the images, (height, width, channels), where that is known.

    Raises:
        GraphError: there is no such layer type; near ones are suggested.
    """
    spec = layers.get(kind)
    if spec is None:
        near = layers.near(kind)
        raise GraphError(
            f"There is no layer type “{kind}”.",
            received=kind,
            expected=" or ".join(near) if near else "a layer from the palette",
        )
    params = {**spec.defaults(), **shape_params(spec, images)}
    return Node(graph.new_id(), kind, graph.new_name(kind), params)


def split_edges(graph: Graph, edges: Sequence[Edge], node: Node, layers: Layers) -> Graph:
    """Puts a new node in the middle of edges of one source; the far ends keep their ports."""
    inputs = [(node.id, 0)]
    return put_into(graph.with_node(node), edges, inputs, node.id, layers)


def put_into(
    graph: Graph,
    edges: Sequence[Edge],
    inputs: Sequence[tuple[str, int]],
    last: str,
    layers: Layers,
) -> Graph:
    """Leads edges of one source to inputs of some nodes of the graph, and on from the last of
    these; the far ends keep their ports.
    """
    if any(edge not in graph.edges for edge in edges):
        raise GraphError("That connection no longer exists.", fix="Connect the layers again.")
    spec = layers.get(graph.nodes[inputs[0][0]].kind)
    if spec is not None and spec.max_inputs == 0:
        raise GraphError(
            f"{spec.title} is the first layer and cannot be inserted into a connection.",
            fix="Drop it on an empty spot.",
        )
    graph = without_edges(graph, edges)
    for first, port in inputs:
        graph = graph.with_edge(Edge(edges[0].source, first, port))
    for edge in edges:
        graph = graph.with_edge(Edge(last, edge.target, edge.port))
    return graph


def connected(graph: Graph, source: str, target: str, port: int | None, layers: Layers) -> Graph:
    """Adds an edge into a given port, or into the lowest free one.

    Raises:
        GraphError: it is not allowed; the message is the reason in words.
    """
    spec = layers.get(graph.nodes[target].kind) if target in graph.nodes else None
    limit = spec.max_inputs if spec else None
    if spec is not None and limit == 0:
        raise GraphError(
            f"{spec.title} is the first layer and takes no connection.",
            fix="Connect to another layer.",
        )
    port = graph.free_port(target) if port is None else port
    if spec is not None and limit is not None and port >= limit:
        inputs = (
            "only one input, which is already connected"
            if limit == 1
            else f"{limit} inputs, all connected"
        )
        raise GraphError(
            f"“{graph.nodes[target].name}” has {inputs}.",
            fix="Remove a connection first, or merge the branches with a layer such as Add.",
        )
    return graph.with_edge(Edge(source, target, port))


def without_edges(graph: Graph, edges: Iterable[Edge]) -> Graph:
    """Removes some edges."""
    for edge in edges:
        graph = graph.without_edge(edge)
    return graph


def taken_inputs(graph: Graph, target: str, layers: Layers) -> tuple[Edge, ...]:
    """The edges one of which a new one must replace: all that end at a node without a free
    input, none where one is free.
    """
    spec, into = layers.get(graph.nodes[target].kind), graph.edges_into(target)
    is_full = spec is not None and spec.max_inputs is not None and len(into) >= spec.max_inputs
    return into if is_full else ()


def connected_all(
    graph: Graph, source: str, inputs: Iterable[tuple[str, int | None]], layers: Layers
) -> Graph:
    """Adds an edge into each of some inputs, given as node and port; see `connected`."""
    for target, port in inputs:
        graph = connected(graph, source, target, port, layers)
    return graph


def connection_problem(
    graph: Graph, source: str, inputs: Iterable[tuple[str, int | None]], layers: Layers
) -> str:
    """Why a node cannot be connected to inputs, in words; empty when it can."""
    try:
        connected_all(graph, source, inputs, layers)
    except WorkbenchError as error:
        return f"{error.what} {error.fix}".strip()
    return ""


def connection_warning(
    graph: Graph, source: str, inputs: Sequence[tuple[str, int | None]], layers: Layers
) -> str:
    """What would be wrong at the targets after connecting, in words; empty when nothing."""
    try:
        after = connected_all(graph, source, inputs, layers)
    except WorkbenchError:
        return ""
    targets = {target for target, _ in inputs}
    before = {p.message for p in Propagation(graph, layers).problems if p.node in targets}
    found = [p for p in Propagation(after, layers).problems if p.node in targets]
    return next((p.message for p in found if p.message not in before), "")


def checked_params(node: Node, values: Params, layers: Layers) -> dict[str, object]:
    """New values in canonical form; those of an unknown layer type are taken as they are.

    Raises:
        ParamError: the first wrong value, naming the node.
    """
    spec = layers.get(node.kind)
    if spec is None:
        return dict(values)
    checked, errors = check_all(spec.params, values)
    if errors:
        where = f"{node.name}, {errors[0].where}"
        raise ParamError(**{**errors[0].to_dict(), "where": where})
    return {key: checked[key] for key in values}


def renamed_apart(nodes: Iterable[Node], graph: Graph) -> tuple[list[Node], Mapping[str, str]]:
    """Copies of nodes with ids, names and groups that are free in `graph`, and old id -> new id."""
    first = int(graph.new_id().removeprefix("n"))
    names = {node.name for node in graph.nodes.values()}
    groups = {"": ""}
    copies: dict[str, Node] = {}
    for number, node in enumerate(nodes, first):
        name = free_name(_stem(node.name), names)
        names.add(name)
        if node.group not in groups:
            taken = {*graph.groups, *groups.values()}
            groups[node.group] = new_group_name(node.group, taken)
        copies[node.id] = replace(node, id=f"n{number}", name=name, group=groups[node.group])
    return list(copies.values()), {key: copy.id for key, copy in copies.items()}


def new_group_name(name: str, taken: Collection[str]) -> str:
    """A name for a group that none of these has."""
    return name if name not in taken else free_name(_stem(name), taken)


def adopted(graph: Graph, node_ids: Iterable[str]) -> Graph:
    """New nodes between layers of one group belong to it."""
    for piece in pieces(graph, [key for key in node_ids if not graph.nodes[key].group]):
        sources = {k for key in piece for k in graph.sources(key)} - piece
        targets = {k for key in piece for k in graph.targets(key)} - piece
        groups = {graph.nodes[key].group for key in sources | targets}
        if sources and targets and len(groups) == 1:
            (name,) = groups
            graph = graph.with_nodes(replace(graph.nodes[key], group=name) for key in piece)
    return graph


def _stem(name: str) -> str:
    head, _, number = name.rpartition("_")
    return head if head and number.isdigit() else name


# rewiring ------------------------------------------------------------------------------------
# Edits that keep the connections around a layer: taking it out of its chain, putting it
# elsewhere, giving it another type. Qt-free: pure functions from a graph to a new one.


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
