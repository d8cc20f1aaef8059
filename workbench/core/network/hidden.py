"""The last hidden layer: what a network knows of an image before it chooses a class."""

from __future__ import annotations

from collections.abc import Callable

from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers, find_outputs, tail


def last_hidden(graph: Graph, layers: Layers, has_kernel: Callable[[str], bool]) -> str | None:
    """The node whose outputs the layer that makes the scores takes; None where there is no such
    layer, or it takes more than one.

    Args:
        graph: A network without errors.
        layers: The layer types.
        has_kernel: Whether a node multiplies by weights; pooling behind it is passed over.
    """
    node = tail(graph, layers, find_outputs(graph, layers)[0])[-1]
    while True:
        sources = graph.sources(node)
        if len(sources) != 1:
            return None
        if has_kernel(node):
            return sources[0]
        node = sources[0]
