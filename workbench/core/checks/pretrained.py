"""Findings about layers whose pretrained weights are no longer theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from workbench.core.checks.problems import Fix, Problem
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import Layers
from workbench.core.network.text import node_text
from workbench.core.specs import PretrainedLayer

FindPretrained = Callable[[str], PretrainedLayer | None]
"""What a node's `pretrained` names; None where there is no such layer."""


def check_pretrained(
    graph: Graph, layers: Layers, found: Propagation, find: FindPretrained
) -> Iterator[Problem]:
    """Layers that have another number of parameters than their pretrained weights."""
    for node in graph.nodes.values():
        if not node.pretrained or node.id not in found.shapes:
            continue
        weights = find(node.pretrained)
        count = layers[node.kind].count_params(found.params[node.id], found.inputs[node.id]).total
        if weights is None:
            yield _unknown(node, layers)
        elif count != weights.num_parameters or node.kind != weights.kind:
            yield Problem(
                node.id,
                "error",
                "Pretrained weights do not fit",
                f"{node_text(node, layers)} has {count:,} parameters, but its pretrained weights "
                f"({node.pretrained}) have {weights.num_parameters:,}: its settings or its inputs "
                "were changed.",
                (*_restore(node, weights), _forget(node)),
            )


def _unknown(node: Node, layers: Layers) -> Problem:
    return Problem(
        node.id,
        "error",
        "Unknown pretrained weights",
        f"{node_text(node, layers)} starts with the weights “{node.pretrained}”, which this "
        "version does not have.",
        (_forget(node),),
    )


def _forget(node: Node) -> Fix:
    def change(graph: Graph) -> Graph:
        known = graph.nodes.get(node.id)
        # Random weights that never learn would be of no use.
        return (
            graph
            if known is None
            else graph.with_node(replace(known, pretrained="", training="always"))
        )

    return Fix("forget_pretrained", "Start with random weights, and train them", change)


def _restore(node: Node, weights: PretrainedLayer) -> Iterator[Fix]:
    def change(graph: Graph) -> Graph:
        known = graph.nodes.get(node.id)
        return graph if known is None else graph.with_node(replace(known, params=weights.params))

    if node.kind == weights.kind and node.params != weights.params:
        yield Fix("restore_settings", "Restore the settings that the weights are for", change)
