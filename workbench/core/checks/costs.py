"""What a network costs: numbers to learn, multiply-adds, memory while training."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import (
    Layers,
    augmentation_nodes,
    frozen_part,
    input_node,
    pipeline_nodes,
)
from workbench.core.specs import ParamCount
from workbench.core.training.optimizers import all_optimizers
from workbench.core.training.progress_rules import Phase, phases_of
from workbench.core.training.recipe import TrainingRecipe

# frozen --------------------------------------------------------------------------------------
# The frozen part of a network: the layers right behind Input that give the same outputs for
# an image in every step of a phase, so that they need to be computed only once.

Learns = Callable[[Node], bool]
"""Whether a layer's weights may change."""


def frozen_end(graph: Graph, layers: Layers, found: Propagation, learns: Learns) -> str | None:
    """The last layer of the frozen part: all that the rest of the network computes with goes
    through it. None where no layer with weights is frozen: pooling alone is not worth it.

    The layers of the input pipeline belong to the frozen part: what they draw at random is the
    images' affair. `found` is the propagation of the graph.
    """
    start = input_node(graph, layers)
    if start is None:
        return None
    frozen = _frozen_nodes(graph, layers, found, learns)
    on_host = {start.id, *pipeline_nodes(graph, layers)}
    end, has_weights = None, False
    leaving = 0  # connections from the part up to here to what is behind it
    for node_id in graph.order:
        if node_id not in frozen:
            continue
        own = len(graph.edges_from(node_id))
        leaving += own - len(graph.edges_into(node_id))  # all that feeds it is frozen
        spec, params = layers[graph.nodes[node_id].kind], found.params[node_id]
        weights = spec.count_params(params, found.inputs[node_id]).total
        has_weights = has_weights or (weights > 0 and node_id not in on_host)
        if has_weights and leaving == own > 0:  # all of them start here
            end = node_id
    return end


@dataclass(frozen=True)
class PhaseWork:
    """Which layers are computed in the epochs of a phase.

    Attributes:
        epochs: How many there are.
        frozen: Ids of the layers of its frozen part.
        copies: How often that is computed for each training image before the first epoch, on this
            computer; 0 where it is computed in each step.
    """

    epochs: int = 1
    frozen: frozenset[str] = frozenset()
    copies: int = 0


ALL_LEARN = PhaseWork()
"""One epoch in which all layers learn."""


def work_of_phases(
    graph: Graph, layers: Layers, found: Propagation, recipe: TrainingRecipe
) -> tuple[PhaseWork, ...]:
    """What each phase of a training computes; `found` is the propagation of the graph."""
    phases = phases_of(recipe)
    if all(node.training == "always" for node in graph.nodes.values()):
        return tuple(PhaseWork(phase.end_epoch - phase.first_epoch) for phase in phases)
    copies = recipe.augmented_copies if augmentation_nodes(graph, layers) else 1
    works = []
    for phase in phases:
        frozen = _up_to(graph, _end_in(phase, graph, layers, found)) & found.shapes.keys()
        once = copies if frozen and recipe.may_cache_features else 0
        works.append(PhaseWork(phase.end_epoch - phase.first_epoch, frozenset(frozen), once))
    return tuple(works)


def _end_in(phase: Phase, graph: Graph, layers: Layers, found: Propagation) -> str | None:
    return frozen_end(graph, layers, found, lambda node: phase.learns(node.training))


def _up_to(graph: Graph, end: str | None) -> set[str]:
    """A layer and all before it; none where there is no layer."""
    ahead = {end} if end is not None else set()
    waiting = list(ahead)
    while waiting:
        new = set(graph.sources(waiting.pop())) - ahead
        ahead |= new
        waiting.extend(new)
    return ahead


def _frozen_nodes(graph: Graph, layers: Layers, found: Propagation, learns: Learns) -> set[str]:
    """Layers that depend on the image and on nothing that changes while training."""
    on_host = set(pipeline_nodes(graph, layers))
    frozen: set[str] = set()
    for node_id in graph.order:
        node = graph.nodes[node_id]
        if node_id not in found.shapes or not frozen.issuperset(graph.sources(node_id)):
            continue
        spec, params = layers[node.kind], found.params[node_id]
        draws = bool(spec.randomness and params.get(spec.randomness)) and node_id not in on_host
        count = spec.count_params(params, found.inputs[node_id])
        changes = learns(node) and (count.trainable or spec.has_batch_statistics)
        if not draws and not changes and (graph.sources(node_id) or _is_input(graph, layers, node)):
            frozen.add(node_id)
    return frozen


def _is_input(graph: Graph, layers: Layers, node: Node) -> bool:
    start = input_node(graph, layers)
    return start is not None and start.id == node.id


# costs ---------------------------------------------------------------------------------------

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
