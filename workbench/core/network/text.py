"""Nodes in messages: a layer type and its name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.core.format import list_text
from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import Layers

MOST_NAMED = 4


def node_text(node: Node, layers: Layers) -> str:
    """A node in messages: its type and its name, e.g. Conv2D “conv_3”."""
    spec = layers.get(node.kind)
    return f"{spec.title if spec else node.kind} “{node.name}”"


def nodes_text(node_ids: Iterable[str], graph: Graph, layers: Layers) -> str:
    """Nodes in a sentence; only the first few by name where there are many."""
    ids = tuple(node_ids)
    named = ids if len(ids) <= MOST_NAMED else ids[: MOST_NAMED - 1]
    items = [node_text(graph.nodes[node_id], layers) for node_id in named]
    if len(named) < len(ids):
        items.append(f"{len(ids) - len(named)} more layers")
    return list_text(items)


def named_in(text: str, graph: Graph) -> frozenset[str]:
    """Ids of the nodes whose names are in a text, as `node_text` writes them."""
    quoted = set(re.findall("“([^”]*)”", text))
    return frozenset(key for key, node in graph.nodes.items() if node.name in quoted)
