"""Findings about the end of the network: one value per class, as probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from workbench.core.checks import fixes
from workbench.core.checks.problems import Fix, Problem
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph
from workbench.core.network.output_node import ends_in_softmax, find_outputs, param_value, tail
from workbench.core.network.text import node_text, shape_text
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec

Layers = Registry[LayerSpec]

FLAT_FIXES = ("flatten", "global_average_pooling2d")


def check_dense_inputs(graph: Graph, layers: Layers, found: Propagation) -> Iterator[Problem]:
    """Dense layers on a picture: right in rare networks, a slip in most."""
    outputs = find_outputs(graph)
    for node_id, inputs in found.inputs.items():
        node = graph.nodes[node_id]
        if node.kind != "dense" or len(inputs[0]) == 1 or node_id not in found.shapes:
            continue
        is_last = len(outputs) == 1 and node_id in tail(graph, layers, outputs[0])
        end = "which does not match the classes." if is_last else "which is rarely intended."
        source = graph.nodes[graph.sources(node_id)[0]]
        yield Problem(
            node_id,
            "error" if is_last else "warning",
            "Dense needs a flat input" if is_last else "Dense acts on the last axis only",
            f"{node_text(node, layers)} receives {shape_text(inputs[0])} from "
            f"{node_text(source, layers)}. Dense acts on the last axis only: its output would be "
            f"{shape_text(found.shapes[node_id])}, {end}",
            _flat_fixes(node_id, layers, len(inputs[0])),
        )


def _flat_fixes(node_id: str, layers: Layers, rank: int) -> tuple[Fix, ...]:
    kinds = FLAT_FIXES if rank == 3 else FLAT_FIXES[:1]
    return tuple(fixes.insert_fix(node_id, kind, layers) for kind in kinds)


def check_end(
    graph: Graph, layers: Layers, found: Propagation, num_classes: int | None, dataset_title: str
) -> Iterator[Problem]:
    """The last layer gives one probability per class."""
    outputs = find_outputs(graph)
    if len(outputs) != 1 or outputs[0] not in found.shapes:
        return
    output, shape = outputs[0], found.shapes[outputs[0]]
    scores = tail(graph, layers, output)[-1]
    node = graph.nodes[output]
    if len(shape) != 1:
        if graph.nodes[scores].kind != "dense":  # check_dense_inputs tells of those
            yield Problem(
                output,
                "error",
                "The output must be flat",
                f"{node_text(node, layers)} is the last layer and outputs {shape_text(shape)}. A "
                "classifier outputs one value per class.",
                _classifier_fixes(output, num_classes),
            )
        return
    if num_classes is not None and shape[0] != num_classes:
        yield _wrong_class_count(
            graph,
            layers,
            scores,
            count=shape[0],
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


def _classifier_fixes(output: str, num_classes: int | None) -> tuple[Fix, ...]:
    units = num_classes or 10
    params: dict[str, Any] = {"units": units, "activation": "softmax"}

    def change(kind: str, graph: Graph) -> Graph:
        if output not in graph.nodes:
            return graph
        flat = fixes.new_node(graph, kind)
        graph = fixes.append_after(graph, output, flat)
        return fixes.append_after(graph, flat.id, fixes.new_node(graph, "dense", params))

    words = f"and Dense with {units} units"
    return (
        Fix("append_flatten", f"Add Flatten {words}", lambda graph: change("flatten", graph)),
        Fix(
            "append_global_average_pooling2d",
            f"Add GlobalAveragePooling2D {words}",
            lambda graph: change("global_average_pooling2d", graph),
        ),
    )


def _wrong_class_count(
    graph: Graph, layers: Layers, scores: str, *, count: int, num_classes: int, dataset_title: str
) -> Problem:
    node = graph.nodes[scores]
    data = f"“{dataset_title}”" if dataset_title else "the data set"
    message = (
        f"{node_text(node, layers)} has {count:,} outputs, and {data} has {num_classes:,} "
        "classes. The last layer needs one unit per class."
    )
    if node.kind == "dense":
        units = layers["dense"].params[0]
        fix = fixes.set_fix(scores, units, num_classes, title=f"Set units to {num_classes}")
    else:
        params = {"units": num_classes, "activation": "softmax"}
        words = f"Add Dense with {num_classes} units"
        fix = fixes.append_fix(scores, "dense", params=params, title=words)
    return Problem(
        scores, "error", "Output size does not match the number of classes", message, (fix,)
    )


def _no_softmax(graph: Graph, layers: Layers, output: str) -> Problem:
    node = graph.nodes[output]
    activation = param_value(graph, layers, output, "activation")
    ends = "" if activation in {None, "linear"} else f" Its activation is {activation}."
    return Problem(
        output,
        "warning",
        "No softmax at the end",
        f"{node_text(node, layers)} is the last layer and has no softmax.{ends} Its outputs are "
        "trained as logits; softmax is applied for predictions.",
        (_softmax_fix(graph, layers, output),),
    )


def _softmax_fix(graph: Graph, layers: Layers, output: str) -> Fix:
    if param_value(graph, layers, output, "activation") is None:
        return replace(
            fixes.append_fix(output, "softmax", params={}, title="Add Softmax"), key="add_softmax"
        )
    spec = layers[graph.nodes[output].kind]
    param = next(param for param in spec.params if param.key == "activation")
    fix = fixes.set_fix(output, param, "softmax", title="Set activation to softmax")
    return replace(fix, key="add_softmax")
