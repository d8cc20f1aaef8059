"""What a network costs: numbers to learn, multiply-adds, memory while training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph
from workbench.core.network.learning import frozen_part
from workbench.core.network.roles import Layers, pipeline_nodes
from workbench.core.specs import ParamCount
from workbench.core.training.optimizers import all_optimizers

BYTES_PER_NUMBER = 4  # weights, gradients and activations are counted as float32


@dataclass(frozen=True)
class NodeCost:
    """What one node costs.

    Attributes:
        parameters: Numbers it learns and keeps; a frozen one learns none.
        multiply_adds: Multiply-adds of one forward pass of one image.
        activation_bytes: Its output for one image in float32.
    """

    parameters: ParamCount
    multiply_adds: int
    activation_bytes: int


@dataclass(frozen=True)
class Costs:
    """What a network costs.

    Attributes:
        nodes: By node id, where the shape is known.
        parameters: In all.
        multiply_adds: Multiply-adds of one forward pass of one image, all layers.
        memory_bytes: While training at the given batch: weights, gradients, optimizer, and
            every layer's output with its gradient, but of a frozen part before all that learns.
        weight_bytes: The part of it that does not depend on the batch.
    """

    nodes: Mapping[str, NodeCost]
    parameters: ParamCount
    multiply_adds: int
    memory_bytes: int
    weight_bytes: int


def estimate(
    graph: Graph,
    layers: Layers,
    propagation: Propagation,
    *,
    batch_size: int,
    optimizer: str,
    known: Costs | None = None,
) -> Costs:
    """Adds up what the nodes cost, trained on `batch_size` images per step with the optimizer of
    that key; `known` has the costs of the nodes that the propagation took over.
    """
    nodes: dict[str, NodeCost] = {}
    for node_id, shape in propagation.shapes.items():
        if known is not None and node_id in propagation.kept:
            nodes[node_id] = known.nodes[node_id]
            continue
        spec = layers[graph.nodes[node_id].kind]
        params, inputs = propagation.params[node_id], propagation.inputs[node_id]
        counted = spec.count_params(params, inputs)
        is_frozen = graph.nodes[node_id].training == "never"
        nodes[node_id] = NodeCost(
            ParamCount(0, counted.total) if is_frozen else counted,
            spec.count_multiply_adds(params, inputs, shape),
            math.prod(shape) * BYTES_PER_NUMBER,
        )
    trainable = sum(cost.parameters.trainable for cost in nodes.values())
    kept = sum(cost.parameters.non_trainable for cost in nodes.values())
    slots = all_optimizers()[optimizer].slots
    weight_bytes = BYTES_PER_NUMBER * ((2 + slots) * trainable + kept)
    on_host = set(pipeline_nodes(graph, layers))
    passed = on_host | _without_gradient(graph, nodes)
    activations = sum(cost.activation_bytes for key, cost in nodes.items() if key not in passed)
    return Costs(
        nodes,
        ParamCount(trainable, kept),
        sum(cost.multiply_adds for cost in nodes.values()),
        weight_bytes + 2 * batch_size * activations,
        weight_bytes,
    )


def _without_gradient(graph: Graph, costs: Mapping[str, NodeCost]) -> frozenset[str]:
    """Ids of the layers before all that learns, where any is frozen: their outputs are not kept."""
    if all(node.training != "never" for node in graph.nodes.values()):
        return frozenset()
    learning = [key for key, cost in costs.items() if cost.parameters.trainable]
    return frozen_part(graph, learning) if learning else frozenset()
