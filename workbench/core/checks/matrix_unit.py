"""How well a layer fills the matrix unit of a TPU: one figure and one wording everywhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workbench.core.checks.analysis import Analysis
from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers
from workbench.core.params import check_all

USUAL_WIDTH = 128
"""Rows and columns of the matrix unit up to v5p; v6e has 256."""

FULL_ENOUGH = 0.95
"""Share of the matrix unit from whose use on no hint is given."""


@dataclass(frozen=True)
class MatrixUse:
    """What a layer makes of the matrix unit.

    Attributes:
        width: Its filters or units.
        filled: The next multiple of the unit's width: it would cost the same.
        used: Part of the unit's work that is needed, 0..1: rows times columns.
        unit: Rows and columns of the unit.
    """

    width: int
    filled: int
    used: float
    unit: int

    @property
    def better(self) -> int:
        """A larger width that costs about the same: a power of two, or all of the unit."""
        return min(self.filled, 1 << self.width.bit_length())

    def words(self, whose: str) -> str:
        """Such as "uses at most 19% of the 128 × 128 matrix unit of v5e"."""
        return f"uses at most {self.used:.0%} of the {self.unit} × {self.unit} matrix unit {whose}"


def matrix_use(
    graph: Graph, layers: Layers, analysis: Analysis, node_id: str, unit: int = USUAL_WIDTH
) -> MatrixUse | None:
    """The use of a layer whose width can be chosen; None for others, and for the last such
    layer, whose width is the number of classes.
    """
    node, cost = graph.nodes[node_id], analysis.costs.nodes.get(node_id)
    spec = layers.get(node.kind)
    if spec is None or not spec.width or cost is None or _is_end(graph, layers, node_id):
        return None
    params, _ = check_all(spec.params, node.params)
    width = int(params[spec.width])
    depth = max(1, cost.multiply_adds // max(1, math.prod(analysis.shapes[node_id])))
    filled = unit * -(-width // unit)
    return MatrixUse(width, filled, _share(width, unit) * _share(depth, unit), unit)


def tpu_hint(graph: Graph, layers: Layers, analysis: Analysis, node_id: str) -> str:
    """What a layer costs on a TPU, in a sentence or two; "" where there is no hint."""
    node = graph.nodes[node_id]
    spec, output = layers.get(node.kind), analysis.shapes.get(node_id)
    if spec is None or output is None:
        return ""
    use = matrix_use(graph, layers, analysis, node_id)
    if use is None or use.used >= FULL_ENOUGH:
        return spec.tpu_hint({**spec.defaults(), **node.params}, output)
    name = next(param.title.lower() for param in spec.params if param.key == spec.width)
    more = "" if use.better == use.width else f" {use.better:,} {name} take about the same time."
    words = use.words("of a TPU")
    return f"{words[0].upper()}{words[1:]}.{more}"


def _share(count: int, unit: int) -> float:
    return count / (unit * -(-count // unit))


def _is_end(graph: Graph, layers: Layers, node_id: str) -> bool:
    """True where only layers without a width of their own come behind."""
    kinds = (layers.get(graph.nodes[key].kind) for key in graph.descendants(node_id))
    return not any(spec is not None and spec.width for spec in kinds)
