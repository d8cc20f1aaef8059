"""Findings about how the nodes hang together, whatever their shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.core.checks import fixes
from workbench.core.checks.connections import continuing_fixes
from workbench.core.checks.problems import Fix, Problem
from workbench.core.checks.shapes import Propagation
from workbench.core.format import shape_text
from workbench.core.network.graph import (
    Edge,
    Graph,
    Node,
    free_name,
    is_valid_name,
    removed,
    valid_name,
)
from workbench.core.network.roles import (
    Layers,
    ends_in_softmax,
    find_outputs,
    has_role,
    input_node,
    input_nodes,
    node_text,
    nodes_text,
    param_value,
    pipeline_nodes,
    specs_of,
    tail,
)
from workbench.core.specs import SOFTMAX, LayerSpec, Role, Shape, ShapeProblem

# output --------------------------------------------------------------------------------------
# Findings about the end of the network: one value per class, as probabilities.

_FEW = 2
"""A last Dense with less than so many units per class was meant to be the output."""


def check_dense_inputs(graph: Graph, layers: Layers, found: Propagation) -> Iterator[Problem]:
    """Dense layers on an image: right in rare networks, a slip in most."""
    outputs = find_outputs(graph, layers)
    for node_id, inputs in found.inputs.items():
        node = graph.nodes[node_id]
        title = layers[node.kind].title
        is_dense = has_role(node, layers, Role.DENSE)
        if not is_dense or len(inputs[0]) == 1 or node_id not in found.shapes:
            continue
        is_last = len(outputs) == 1 and node_id in tail(graph, layers, outputs[0])
        end = "which does not match the classes." if is_last else "which is rarely intended."
        source = graph.nodes[graph.sources(node_id)[0]]
        yield Problem(
            node_id,
            "error" if is_last else "warning",
            f"{title} needs a flat input" if is_last else f"{title} acts on the last axis only",
            f"{node_text(node, layers)} receives {shape_text(inputs[0])} from "
            f"{node_text(source, layers)}. {title} acts on the last axis only: its output would be "
            f"{shape_text(found.shapes[node_id])}, {end}",
            tuple(fixes.insert_fix(node_id, key, layers) for key in _flattening(layers, inputs[0])),
        )


def _flattening(layers: Layers, shape: Shape) -> list[str]:
    """Keys of the layer types that make such an output flat."""

    def is_flat(spec: LayerSpec) -> bool:
        try:
            return len(spec.infer_shape(spec.defaults(), (shape,))) == 1
        except ShapeProblem:
            return False

    return [spec.key for spec in specs_of(layers, Role.FLATTEN) if is_flat(spec)]


def check_end(
    graph: Graph, layers: Layers, found: Propagation, num_classes: int | None, dataset_title: str
) -> Iterator[Problem]:
    """The last layer gives one probability per class."""
    outputs = find_outputs(graph, layers)
    if len(outputs) != 1 or outputs[0] not in found.shapes:
        return
    output, shape = outputs[0], found.shapes[outputs[0]]
    scores = tail(graph, layers, output)[-1]
    if len(shape) != 1:
        # check_dense_inputs reports those
        if not has_role(graph.nodes[scores], layers, Role.DENSE):
            yield _not_flat(graph, layers, found, output, num_classes)
        return
    if num_classes is not None and shape[0] != num_classes:
        yield _wrong_class_count(
            graph,
            layers,
            found,
            output,
            num_classes=num_classes,
            dataset_title=dataset_title,
        )
    elif not ends_in_softmax(graph, layers, output):
        yield _no_softmax(graph, layers, output)
    else:
        yield from _softmax_twice(graph, layers, output)


def _softmax_twice(graph: Graph, layers: Layers, output: str) -> Iterator[Problem]:
    """Softmax of probabilities: they come out nearly equal, and little is learned."""
    before = tail(graph, layers, output)[1:]
    first = next((node for node in before if ends_in_softmax(graph, layers, node)), None)
    if first is not None:
        names = node_text(graph.nodes[first], layers), node_text(graph.nodes[output], layers)
        yield Problem(
            output,
            "warning",
            "Softmax applied twice",
            f"{names[0]} already outputs probabilities. {names[1]} makes them nearly equal, so "
            "the network hardly learns.",
            (fixes.remove_fix(output, graph.nodes[output].name),),
        )


def _dense(layers: Layers, units: int) -> tuple[LayerSpec, dict[str, Any]]:
    """The layer that ends a classifier of so many classes, and its parameters."""
    spec = specs_of(layers, Role.DENSE)[0]
    activation = {} if spec.activation is None else {spec.activation.key: SOFTMAX}
    return spec, {spec.width: units, **activation}


def _dense_words(dense: LayerSpec, units: int) -> str:
    return f"a {dense.title} layer with {units:,} units"


def _not_flat(
    graph: Graph, layers: Layers, found: Propagation, output: str, num_classes: int | None
) -> Problem:
    shape = found.shapes[output]
    growing = _classifier_fixes(output, shape, layers, num_classes)
    title = growing[0].title if growing else f"Make {node_text(graph.nodes[output], layers)} flat"
    return Problem(
        output,
        "unfinished",
        "The output must be flat",
        f"{node_text(graph.nodes[output], layers)} is the last layer and outputs "
        f"{shape_text(shape)}. A classifier outputs one value per class.",
        partial(_going_on, graph, layers, found, output, growing),
        step=title[0].lower() + title[1:],
        is_next=True,
    )


def _going_on(
    graph: Graph, layers: Layers, found: Propagation, end: str, growing: Iterable[Fix]
) -> Iterator[Fix]:
    """What may follow an end: layers that were cut off before new ones."""
    yield from continuing_fixes(graph, layers, found.shapes, found.params, end)
    yield from growing


def _classifier_fixes(
    output: str, shape: Shape, layers: Layers, num_classes: int | None
) -> tuple[Fix, ...]:
    units = num_classes or 10
    dense, params = _dense(layers, units)

    def change(kind: str, graph: Graph) -> Graph:
        if output not in graph.nodes:
            return graph
        flat = fixes.new_node(graph, kind)
        graph = fixes.append_after(graph, output, flat)
        return fixes.append_after(graph, flat.id, fixes.new_node(graph, dense.key, params))

    words = f"and {_dense_words(dense, units)}"
    return tuple(
        Fix(f"append_{kind}", f"Add {layers[kind].title} {words}", partial(change, kind))
        for kind in _flattening(layers, shape)
    )


def _wrong_class_count(
    graph: Graph,
    layers: Layers,
    found: Propagation,
    output: str,
    *,
    num_classes: int,
    dataset_title: str,
) -> Problem:
    """Wrong behind a softmax; without one the last layers may still be to come."""
    scores = tail(graph, layers, output)[-1]
    node = graph.nodes[scores]
    data = f"“{dataset_title}”" if dataset_title else "the data set"
    is_head = ends_in_softmax(graph, layers, output)
    count = found.shapes[output][0]
    return Problem(
        scores,
        "error" if is_head else "unfinished",
        "Output size does not match the number of classes",
        f"{node_text(node, layers)} has {count:,} outputs, and {data} has {num_classes:,} "
        "classes. The last layer needs one unit per class.",
        partial(_class_count_offers, graph, layers, found, output, num_classes),
        step=f"add {_dense_words(_dense(layers, num_classes)[0], num_classes)}",
        is_next=not is_head,
    )


def _class_count_offers(
    graph: Graph, layers: Layers, found: Propagation, output: str, num_classes: int
) -> Iterator[Fix]:
    """What makes the number of outputs right; without a softmax what was cut off may follow."""
    count = found.shapes[output][-1]
    fitting = _class_count_fixes(graph, layers, output, num_classes, count)
    is_head = ends_in_softmax(graph, layers, output)
    return fitting if is_head else _going_on(graph, layers, found, output, fitting)


def _class_count_fixes(
    graph: Graph, layers: Layers, output: str, num_classes: int, count: int
) -> Iterator[Fix]:
    """Another layer with one unit per class, or the layer that sets how many there are: that leads
    where it is a last Dense with fewer, behind which another one would know too little, or with
    hardly more, as it was set by hand: hidden layers are wider.
    """
    scores, *later = reversed(tail(graph, layers, output))
    dense, params = _dense(layers, num_classes)
    title = f"Add {_dense_words(dense, num_classes)}"
    if not ends_in_softmax(graph, layers, output):
        yield fixes.append_fix(output, dense.key, params=params, title=title)
    elif later and not has_role(graph.nodes[scores], layers, Role.DENSE):
        params = {dense.width: num_classes}
        yield fixes.insert_fix(later[0], dense.key, layers, params=params, title=title)
    at = scores
    while not layers[graph.nodes[at].kind].width:
        if len(graph.sources(at)) != 1:
            return
        at = graph.sources(at)[0]
    spec = layers[graph.nodes[at].kind]
    width = next(param for param in spec.params if param.key == spec.width)
    name = "" if at == scores else f" of “{graph.nodes[at].name}”"
    title = f"Set {width.title.lower()}{name} to {num_classes:,}"
    fix = fixes.set_fix(at, width, num_classes, title=title)
    is_last = at == scores and has_role(graph.nodes[at], layers, Role.DENSE)
    is_meant = count < num_classes or width.default != count < _FEW * num_classes
    yield replace(fix, order=-1 if is_last and is_meant else 0)


def _no_softmax(graph: Graph, layers: Layers, output: str) -> Problem:
    node = graph.nodes[output]
    param, ends = layers[node.kind].activation, ""
    if param is None:
        spec = specs_of(layers, Role.SOFTMAX)[0]
        fix = fixes.append_fix(output, spec.key, params={}, title=f"Add {spec.title}")
    else:
        value = param_value(graph, layers, output, param.key)
        ends = "" if value == "linear" else f" Its activation is {value}."
        fix = fixes.set_fix(output, param, SOFTMAX, title=f"Set activation to {SOFTMAX}")
    return Problem(
        output,
        "warning",
        "No softmax at the end",
        f"{node_text(node, layers)} is the last layer and has no softmax.{ends} Its outputs are "
        "trained as logits; softmax is applied for predictions.",
        (replace(fix, key="add_softmax"),),
    )


# structure -----------------------------------------------------------------------------------


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
