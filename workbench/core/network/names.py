"""Names of nodes as Keras layers can bear them."""

from __future__ import annotations

import re

from workbench.core.network.graph import Graph, free_name

_ALLOWED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_.\-]+")


def is_valid_name(name: str) -> bool:
    """True when Keras can take the name as it is."""
    return _ALLOWED.fullmatch(name) is not None


def valid_name(name: str, kind: str = "layer") -> str:
    """The nearest name that Keras takes; `kind` where nothing is left."""
    if is_valid_name(name):
        return name
    text = _FORBIDDEN.sub("_", name).strip("_.-")[:100]
    if not text:
        text = _FORBIDDEN.sub("_", kind).strip("_.-")[:100]
    return text or "layer"


def keras_names(graph: Graph) -> dict[str, str]:
    """The layer name of each node by id: valid, and different for each node.

    Node names that are valid and not doubled stay as they are.
    """
    taken = {node.name for node in graph.nodes.values() if is_valid_name(node.name)}
    used: set[str] = set()
    names: dict[str, str] = {}
    for node in graph.nodes.values():
        name = valid_name(node.name, node.kind)
        if name != node.name or name in used:
            name = free_name(name, taken | used)
        used.add(name)
        names[node.id] = name
    return names
