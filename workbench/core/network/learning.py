"""Phases in which layers learn: edits of a graph, and which part of it is frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from workbench.core.network.graph import Graph, Training
from workbench.core.network.roles import Layers


def with_training(graph: Graph, node_ids: Iterable[str], training: Training) -> Graph:
    """The graph in which these layers learn in these phases."""
    return graph.with_nodes(replace(graph.nodes[key], training=training) for key in node_ids)


def learning_from(graph: Graph, node_id: str, training: Training, layers: Layers) -> Graph:
    """A layer and all behind it in its group (where it has none: in the network) learn then, the
    others of the group never.

    Layers that normalize by the batch stay frozen, so that they keep the statistics of their
    pretrained weights: https://keras.io/guides/transfer_learning, on BatchNormalization.
    """
    group = graph.nodes[node_id].group
    scope = graph.groups[group] if group else graph.order
    behind = graph.descendants(node_id) | {node_id}
    learning = {key for key in scope if key in behind and not keeps_statistics(graph, key, layers)}
    rest = [key for key in scope if key not in learning and (group or key not in behind)]
    return with_training(with_training(graph, learning, training), rest, "never")


def keeps_statistics(graph: Graph, node_id: str, layers: Layers) -> bool:
    """Whether a layer has pretrained statistics of batches that learning would overwrite."""
    node = graph.nodes[node_id]
    spec = layers.get(node.kind)
    return bool(node.pretrained or node.group) and spec is not None and spec.has_batch_statistics


def with_weights(graph: Graph, pretrained: Mapping[str, str]) -> Graph:
    """The graph in which layers start with other weights: id -> pretrained layer, "" for random
    weights.
    """
    return graph.with_nodes(
        replace(graph.nodes[key], pretrained=name) for key, name in pretrained.items()
    )


def with_random_weights(graph: Graph, node_ids: Iterable[str]) -> Graph:
    """The graph in which these layers start with random weights instead of pretrained ones."""
    return with_weights(graph, dict.fromkeys(node_ids, ""))


def frozen_part(graph: Graph, learning: Iterable[str]) -> frozenset[str]:
    """Ids of the layers before which, and in which, none of `learning` is: in training their
    outputs need no gradient.
    """
    reached = set(learning)
    for key in graph.order:
        if not reached.isdisjoint(graph.sources(key)):
            reached.add(key)
    return frozenset(graph.nodes.keys() - reached)
