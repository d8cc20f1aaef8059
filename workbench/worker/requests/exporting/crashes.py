"""Search for the layer at which a converter or a runtime crashes: found by exports of ever smaller
parts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from workbench.core.network.graph import Graph


def crashing_node(graph: Graph, nodes: Collection[str], crashes: Callable[[str], bool]) -> str:
    """The id of the layer that an export crashes at; "" where that is none of the network's.

    About the logarithm of the number of layers are tried.

    Args:
        graph: The network, of which an export crashes.
        nodes: Its layers that an export has.
        crashes: Whether an export of the network up to a layer, with that, crashes.
    """
    suspects = [node for node in graph.order if node in nodes]
    while len(suspects) > 1:
        node = suspects[(len(suspects) - 1) // 2]
        before = graph.ancestors(node) | {node}
        is_in = crashes(node)
        suspects = [each for each in suspects if (each in before) == is_in]
    return suspects[0] if suspects and graph.sources(suspects[0]) else ""
