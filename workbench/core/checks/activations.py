"""Hints about layers that learn and have no activation: what follows gains little by them."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.checks import fixes
from workbench.core.checks.problems import Fix, Problem
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers
from workbench.core.network.text import node_text
from workbench.core.specs import ACTIVATION_CATEGORY, LINEAR, RELU


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
