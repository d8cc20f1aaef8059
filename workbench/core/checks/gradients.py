"""Findings about layers through which nothing can be learned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.core.checks import fixes
from workbench.core.checks.problems import Fix, Problem
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers
from workbench.core.network.text import node_text
from workbench.core.params import ChoiceParam
from workbench.core.specs import LayerSpec


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
