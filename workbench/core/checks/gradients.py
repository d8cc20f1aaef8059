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
from workbench.core.network.graph import Edge, Graph
from workbench.core.network.roles import Layers, end_of_augmentation, input_node, node_text
from workbench.core.params import ChoiceParam
from workbench.core.specs import ACTIVATION_CATEGORY, LINEAR, RELU, LayerSpec

# activations ---------------------------------------------------------------------------------
# Hints about layers that learn and have no activation: what follows gains little by them.


def check_activations(graph: Graph, layers: Layers, found: Propagation) -> Iterator[Problem]:
    """Layers whose outputs go into the next layer with weights without any activation.

    Left alone are branches and merges (residual blocks end in a sum of linear layers), layers
    that filter each channel alone (the linear half of a separable convolution), and bottlenecks:
    a linear layer that is narrower than what comes in and what follows it.
    """
    for node_id in graph.order:
        if not _is_linear_learner(graph, layers, found, node_id):
            continue
        reached = _next_learner(graph, layers, found, node_id)
        if reached is None or _is_bottleneck(found, node_id, reached[0]):
            continue
        after, is_linear = reached
        name, other = (node_text(graph.nodes[key], layers) for key in (node_id, after))
        if is_linear:
            title = "Two linear layers in a row"
            words = f"{name} has no activation before {other}: without one, the two compute no "
            words += "more than a single linear layer can."
        else:
            title = "No activation"
            words = f"{name} has no activation before {other}. Most networks learn better with one."
        yield Problem(node_id, "hint", title, words, tuple(_fixes(graph, layers, node_id)))


def _is_linear_learner(graph: Graph, layers: Layers, found: Propagation, node_id: str) -> bool:
    """Whether a layer makes new features by weights and applies nothing to them."""
    spec = layers.get(graph.nodes[node_id].kind)
    return (
        spec is not None
        and node_id in found.shapes
        and bool(spec.width)
        and spec.is_linear
        and spec.activation is not None
        and found.params[node_id][spec.activation.key] == LINEAR
    )


def _next_learner(
    graph: Graph, layers: Layers, found: Propagation, node_id: str
) -> tuple[str, bool] | None:
    """The next layer with features of its own, and whether all between is linear; None where an
    activation, a branch, a merge or the end comes first.
    """
    at, is_linear = node_id, True
    while True:
        targets = graph.targets(at)
        if len(targets) != 1 or len(graph.edges_into(targets[0])) != 1:
            return None
        at = targets[0]
        spec = layers.get(graph.nodes[at].kind)
        if spec is None or at not in found.shapes or spec.category == ACTIVATION_CATEGORY:
            return None
        is_linear = is_linear and spec.is_linear
        if spec.width:
            return at, is_linear
        if spec.activation is not None and found.params[at][spec.activation.key] != LINEAR:
            return None


def _is_bottleneck(found: Propagation, node_id: str, after: str) -> bool:
    width = found.shapes[node_id][-1]
    return width < found.inputs[node_id][0][-1] and width < found.shapes[after][-1]


def _fixes(graph: Graph, layers: Layers, node_id: str) -> Iterator[Fix]:
    param = layers[graph.nodes[node_id].kind].activation
    if param is not None and RELU in param.choices:
        yield fixes.set_fix(node_id, param, RELU)


# gradients -----------------------------------------------------------------------------------

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
