"""Findings about how the nodes hang together, whatever their shapes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from workbench.core.checks import fixes
from workbench.core.checks.connections import continuing_fixes
from workbench.core.checks.problems import Fix, Problem
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Edge, Graph, Node, free_name
from workbench.core.network.names import is_valid_name, valid_name
from workbench.core.network.removal import removed
from workbench.core.network.roles import (
    Layers,
    ends_in_softmax,
    find_outputs,
    has_role,
    input_node,
    input_nodes,
    pipeline_nodes,
)
from workbench.core.network.text import node_text, nodes_text
from workbench.core.specs import Role, Shape


def check_inputs(graph: Graph, layers: Layers, wanted: Shape | None) -> Iterator[Problem]:
    """Exactly one Input; `wanted` is the shape that a new one would get."""
    inputs = input_nodes(graph, layers)
    if not inputs:
        what = "has no Input layer" if graph.nodes else "is empty"
        yield Problem(
            None,
            "unfinished",
            "No Input",
            f"The network {what}. Add an Input and connect it to the first layer.",
            fixes.add_input_fixes(graph, layers, wanted),
            step="add an Input",
        )
    for node in inputs[1:]:
        yield Problem(
            node.id,
            "error",
            "Only one Input is allowed",
            f"{node_text(node, layers)} is a second Input besides "
            f"{node_text(inputs[0], layers)}. A network has one Input; branches start there.",
            (_merge_input_fix(node, inputs[0]), fixes.remove_fix(node.id, node.name)),
        )


def _merge_input_fix(extra: Node, first: Node) -> Fix:
    def change(graph: Graph) -> Graph:
        edges = graph.edges_from(extra.id)
        graph = graph.without_nodes([extra.id])
        for edge in edges:
            graph = graph.with_edge(Edge(first.id, edge.target, edge.port))
        return graph

    return Fix("merge_input", f"Use “{first.name}” instead", change)


def check_outputs(graph: Graph, layers: Layers, found: Propagation) -> Iterator[Problem]:
    """At most one end: all others are reported. One that makes probabilities is the end."""
    outputs = find_outputs(graph, layers)
    if len(outputs) < 2:
        return
    names = nodes_text(outputs, graph, layers)
    heads = [key for key in outputs if ends_in_softmax(graph, layers, key)]
    end = (heads or outputs)[-1]
    for key in outputs:
        if key == end:
            continue
        name = node_text(graph.nodes[key], layers)
        yield Problem(
            key,
            "unfinished",
            "Several outputs",
            f"The network ends in {len(outputs)} layers: {names}. A classifier has one output. "
            f"Remove {name}, or connect it to a merge layer.",
            partial(_dead_end_fixes, graph, layers, found, key),
            step=f"connect {name} to a merge layer, or remove it",
        )


def _dead_end_fixes(graph: Graph, layers: Layers, found: Propagation, end: str) -> Iterator[Fix]:
    """Connect it to a layer that lacks an input, or remove the layers that lead to this end only,
    or the last of them.
    """
    yield from continuing_fixes(graph, layers, found.shapes, found.params, end)
    branch = [end]
    while len(sources := graph.sources(branch[-1])) == 1 and graph.targets(*sources) == (
        branch[-1],
    ):
        branch.append(*sources)
    if len(branch) > 1:
        words = f"Remove “{graph.nodes[branch[-1]].name}” to “{graph.nodes[end].name}”"
        title = f"{words} ({len(branch)} layers)"
        yield Fix(fixes.REMOVE, title, lambda graph: removed(graph, branch))
    yield fixes.remove_fix(end, graph.nodes[end].name)


def check_places(graph: Graph, layers: Layers) -> Iterator[Problem]:
    """Random image layers must be in the unbroken chain behind Input."""
    random = [
        node
        for node in graph.nodes.values()
        if (spec := layers.get(node.kind)) is not None and spec.place == "pipeline"
    ]
    if not random:
        return
    chain = set(pipeline_nodes(graph, layers))
    start = input_node(graph, layers)
    for node in random:
        if node.id in chain or not graph.edges_into(node.id):
            continue
        found: tuple[Fix, ...] = ()
        if start is not None:
            found = (fixes.move_behind_input_fix(node.id, start.id, node.name),)
        yield Problem(node.id, "error", *_place_words(graph, layers, node), found)


def _place_words(graph: Graph, layers: Layers, node: Node) -> tuple[str, str]:
    """Title and message for a random image layer that cannot run in the input pipeline."""
    rule = "Random image layers run before the model, while images are loaded"
    name = node_text(node, layers)
    for source in graph.sources(node.id):
        others = [key for key in graph.targets(source) if key != node.id]
        if others and has_role(graph.nodes[source], layers, Role.INPUT):
            start = node_text(graph.nodes[source], layers)
            return "Is on a branch", (
                f"{name} starts at {start}, like {nodes_text(others, graph, layers)}. {rule}, so "
                "every branch must start after them."
            )
    names = nodes_text(graph.sources(node.id), graph, layers)
    return "Too far from Input", (
        f"{name} comes after {names}. {rule}, so only other image layers may come between them "
        "and Input, and the chain must not branch."
    )


def check_names(graph: Graph, layers: Layers) -> Iterator[Problem]:
    """Names that Keras can take, each once."""
    seen: dict[str, Node] = {}
    taken = {node.name for node in graph.nodes.values()}
    for node in graph.nodes.values():
        name = valid_name(node.name, node.kind)
        if node.name in seen:
            yield Problem(
                node.id,
                "error",
                "Duplicate name",
                f"{node_text(node, layers)} has the same name as "
                f"{node_text(seen[node.name], layers)}. Names must be unique.",
                (fixes.rename_fix(node.id, free_name(name, taken)),),
            )
        elif not is_valid_name(node.name):
            yield Problem(
                node.id,
                "warning",
                "Name is not valid in Keras",
                f"Keras does not accept the name “{node.name}”: it is trained and exported as "
                f"“{name}”. Use letters, digits, _ . - (no spaces), starting with a letter or "
                "digit.",
                (fixes.rename_fix(node.id, free_name(name, taken)),),
            )
        seen.setdefault(node.name, node)
