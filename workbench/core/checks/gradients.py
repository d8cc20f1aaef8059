"""Findings about gradients: layers that let none through, and images whose values, 0 to 255, go
into layers that learn as they are.

The usual initial weights keep the size of what goes in. With pixels of up to 255 the first outputs,
the loss and its gradients are as much too large: at a rate that is usual, training diverges; at a
small one it may learn as well, or faster (`packaging/bench.sh scaling` compares). So it is a hint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.core.checks import fixes
from workbench.core.checks.costs import Costs
from workbench.core.checks.learning import PIXELS
from workbench.core.checks.problems import Fix, Problem
from workbench.core.checks.shapes import Propagation
from workbench.core.network.augmentation import end_of_augmentation
from workbench.core.network.graph import Edge, Graph
from workbench.core.network.roles import Layers, input_node
from workbench.core.network.text import node_text
from workbench.core.params import ChoiceParam
from workbench.core.specs import ACTIVATION_CATEGORY, LayerSpec

_WANTED = (0.0, 1.0)
_INITIALIZER, _ZEROS = "kernel_initializer", "zeros"


def check_gradients(graph: Graph, layers: Layers, found: Propagation) -> Iterator[Problem]:
    """Layers without a gradient that have something to learn before them."""
    learns_before: dict[str, str] = {}  # node -> a node with weights at it or before it
    for node_id in graph.order:
        earlier = next((learns_before[s] for s in graph.sources(node_id) if s in learns_before), "")
        if node_id in found.shapes:
            spec, params = layers[graph.nodes[node_id].kind], found.params[node_id]
            if earlier and spec.stops_learning(params):
                learner = node_text(graph.nodes[earlier], layers)
                name = node_text(graph.nodes[node_id], layers)
                yield Problem(
                    node_id,
                    "error",
                    "No gradient passes through it",
                    f"TensorFlow has no gradient for {name} with these settings, so the weights "
                    f"of {learner} before it could not be trained.",
                    tuple(_settings_that_learn(node_id, spec, params)),
                )
            elif (
                graph.nodes[node_id].training != "never"
                and spec.count_params(params, found.inputs[node_id]).trainable
            ):
                earlier = earlier or node_id
        if earlier:
            learns_before[node_id] = earlier


def _settings_that_learn(node_id: str, spec: LayerSpec, params: Mapping[str, Any]) -> Iterator[Fix]:
    """A fix for each parameter of which another choice has a gradient."""
    for param in spec.params:
        if not isinstance(param, ChoiceParam):
            continue
        for choice in param.choices:
            if not spec.stops_learning({**params, param.key: choice}):
                yield fixes.set_fix(node_id, param, choice)
                break


def check_pixels(graph: Graph, layers: Layers, costs: Costs) -> Iterator[Problem]:
    """A hint where nothing in the network changes the range of values.

    Nothing is said of a network that starts with the weights of others, or whose outputs are 0 at
    first, whatever goes in: some published networks do without scaling so.
    """
    start, scaling = input_node(graph, layers), _scaling_layer(layers)
    nodes = [node for node in graph.nodes.values() if node.kind in layers]
    is_known = any(node.pretrained or layers[node.kind].range_of is not None for node in nodes)
    if start is None or scaling is None or is_known:
        return
    weighted = [key for key in graph.order if _has_weights(costs, key)]
    first = _first_of(graph, layers, start.id, costs)
    if not first or graph.nodes[weighted[-1]].params.get(_INITIALIZER) == _ZEROS:
        return
    low, high = PIXELS
    yield Problem(
        first,
        "hint",
        "Pixel values are not scaled",
        f"{node_text(graph.nodes[first], layers)} gets values from {low:g} to {high:g}. Initial "
        "weights are made for values of about 1: the first gradients are large, and training may "
        "diverge at learning rates that are usual.",
        (_scale_fix(scaling, layers),),
    )


def _has_weights(costs: Costs, key: str) -> bool:
    return key in costs.nodes and costs.nodes[key].parameters.total > 0


def _first_of(graph: Graph, layers: Layers, start: str, costs: Costs) -> str:
    """The first layer with weights that images reach without an activation; "" for none."""
    reached = {start}
    for key in graph.order:
        if key in reached or not reached.intersection(graph.sources(key)):
            continue
        if _has_weights(costs, key):
            return key
        spec = layers.get(graph.nodes[key].kind)
        if spec is not None and spec.category != ACTIVATION_CATEGORY:
            reached.add(key)
    return ""


def _scaling_layer(layers: Layers) -> LayerSpec | None:
    """The layer type that brings pixels to 0–1 as it is."""
    for spec in layers.values():
        if spec.range_of is not None and spec.range_of(spec.defaults(), PIXELS) == _WANTED:
            return spec
    return None


def _scale_fix(spec: LayerSpec, layers: Layers) -> Fix:
    """Insert the layer behind Input and its augmentation, which expects pixels as they are."""

    def change(graph: Graph) -> Graph:
        if input_node(graph, layers) is None:
            return graph
        end, added = end_of_augmentation(graph, layers), fixes.new_node(graph, spec.key)
        leaving = graph.edges_from(end)
        graph = graph.with_node(added)
        for edge in leaving:
            graph = graph.without_edge(edge).with_edge(Edge(added.id, edge.target, edge.port))
        return graph.with_edge(Edge(end, added.id))

    words = f"Insert {spec.title} ({spec.describe(spec.defaults())})"
    return Fix(f"insert_{spec.key}", words, change)
