"""How shapes, nodes and amounts of memory are written in messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.core.network.graph import Graph, Node
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.core.text import list_text

MOST_NAMED = 4

_BYTE_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def shape_text(shape: Sequence[int]) -> str:
    """A shape as people write it: 16 × 16 × 64; 28,800."""
    return " × ".join(f"{n:,}" for n in shape) if shape else "a single number"


def node_text(node: Node, layers: Registry[LayerSpec]) -> str:
    """A node in messages: its type and its name, e.g. Conv2D “conv_3”."""
    spec = layers.get(node.kind)
    return f"{spec.title if spec else node.kind} “{node.name}”"


def bytes_text(count: float) -> str:
    """1_100_000_000 -> "1.1 GB" (decimal units, as file managers write them)."""
    value = float(count)
    for unit in _BYTE_UNITS:
        if value < 999.5 or unit == _BYTE_UNITS[-1]:
            return f"{three_figures(value) if unit != 'bytes' else f'{value:.0f}'} {unit}"
        value /= 1000
    raise AssertionError


def three_figures(value: float) -> str:
    """12.345 -> "12.3"; 123.4 -> "123"."""
    return f"{value:.{0 if abs(value) >= 99.95 else 1}f}"


def nodes_text(node_ids: Iterable[str], graph: Graph, layers: Registry[LayerSpec]) -> str:
    """Nodes in a sentence; only the first few by name where there are many."""
    ids = tuple(node_ids)
    named = ids if len(ids) <= MOST_NAMED else ids[: MOST_NAMED - 1]
    items = [node_text(graph.nodes[node_id], layers) for node_id in named]
    if len(named) < len(ids):
        items.append(f"{len(ids) - len(named)} more")
    return list_text(items)
