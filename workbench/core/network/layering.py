"""Ranks, dummies and the order inside each layer: the first half of `core.network.layout`."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.core.network.graph import Graph

_SWEEPS = 8
_MAX_DUMMIES = 4_000
"""Beyond this, long edges get no lanes of their own: a dense graph has more than screen."""


@dataclass
class Layering:
    """Nodes and dummies as numbers 0..n-1, in layers.

    Attributes:
        keys: Node id of each item; None for a dummy (a lane that an edge passes through).
        rank: Layer number of each item.
        up, down: Neighbors in the layer above and in the layer below.
        layers: Items of each layer from left to right.
        trunk: The items of the longest path, one of each layer.
        is_trunk: Whether each item is on the trunk.
    """

    keys: list[str | None]
    rank: list[int]
    up: list[list[int]]
    down: list[list[int]]
    layers: list[list[int]]
    trunk: list[int]
    is_trunk: list[bool]

    @classmethod
    def of(cls, graph: Graph, part: Sequence[str]) -> Layering:
        """Ranks one connected part of a graph and adds its dummies."""
        ranks, trunk_keys = _rank(graph, part)
        keys = sorted(part, key=lambda key: ranks[key])
        number = {key: i for i, key in enumerate(keys)}
        rank = [ranks[key] for key in keys]
        self = cls([*keys], rank, [[] for _ in keys], [[] for _ in keys], [], [], [])
        self._link(graph, part, number)
        self.trunk = [number[key] for key in trunk_keys]
        trunk = set(self.trunk)
        self.is_trunk = [i in trunk for i in range(len(self.keys))]
        self._fill_layers()
        return self

    def _link(self, graph: Graph, part: Sequence[str], number: Mapping[str, int]) -> None:
        edges = [edge for key in part for edge in graph.edges_from(key)]
        links = [(number[edge.source], number[edge.target]) for edge in edges]
        spans = {(above, below): self.rank[below] - self.rank[above] for above, below in links}
        has_lanes = sum(span - 1 for span in spans.values()) <= _MAX_DUMMIES
        lanes: dict[tuple[int, int], int] = {}
        for (above, below), span in spans.items():
            if span == 1 or (span > 1 and has_lanes):
                self._join(self._lane(above, self.rank[below], lanes), below)

    def _lane(self, source: int, rank: int, lanes: dict[tuple[int, int], int]) -> int:
        """The dummy of `source` right above layer `rank`, or itself; edges of one source share
        their lane.
        """
        last = source
        for level in range(self.rank[source] + 1, rank):
            item = lanes.get((source, level))
            if item is None:
                item = lanes[source, level] = len(self.keys)
                self.keys.append(None)
                self.rank.append(level)
                self.up.append([])
                self.down.append([])
                self._join(last, item)
            last = item
        return last

    def _join(self, above: int, below: int) -> None:
        self.down[above].append(below)
        self.up[below].append(above)

    def _fill_layers(self) -> None:
        """Sets the first order, breadth first from the trunk: skips start on its right, the
        branches of one node by turns on its right and its left.
        """
        side = dict.fromkeys(self.trunk, 0)
        waiting = list(self.trunk)
        for item in waiting:
            branches = 0
            for near in (*self.down[item], *self.up[item]):
                if near in side:
                    continue
                if side[item] or self.keys[near] is None:
                    side[near] = side[item] or 1
                else:
                    side[near] = -1 if branches % 2 else 1
                    branches += 1
                waiting.append(near)
        lefts: list[list[int]] = [[] for _ in self.trunk]
        rights: list[list[int]] = [[] for _ in self.trunk]
        for item in waiting[len(self.trunk) :]:
            (rights if side[item] > 0 else lefts)[self.rank[item]].append(item)
        self.layers = [
            [*reversed(left), middle, *right]
            for left, middle, right in zip(lefts, self.trunk, rights, strict=True)
        ]


def _rank(graph: Graph, part: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    """The layer of each node, and the longest path from the top to the bottom."""
    inside = set(part)
    rank = dict.fromkeys(part, 0)
    before: dict[str, str] = {}
    for key in graph.order:
        if key not in inside:
            continue
        for source in graph.sources(key):
            if rank[source] + 1 > rank[key]:
                rank[key] = rank[source] + 1
                before[key] = source
    last = max(part, key=lambda key: rank[key])
    trunk = [last]
    while trunk[-1] in before:
        trunk.append(before[trunk[-1]])
    trunk.reverse()
    for key in part:
        targets = graph.targets(key)
        if targets and not graph.sources(key) and key != trunk[0]:
            rank[key] = max(0, min(rank[target] for target in targets) - 1)
    return rank, trunk


def order_layers(layering: Layering) -> None:
    """Sorts each layer by the mean place of its neighbors, keeping the best order seen."""
    best = [list(layer) for layer in layering.layers]
    fewest = count_crossings(layering)
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        _sweep(layering, is_down=sweep % 2 == 0)
        _swap_neighbors(layering)
        crossings = count_crossings(layering)
        if crossings < fewest:
            fewest = crossings
            best = [list(layer) for layer in layering.layers]
    layering.layers = best


def _sweep(layering: Layering, *, is_down: bool) -> None:
    near = layering.up if is_down else layering.down
    place = _places(layering)
    levels = range(len(layering.layers))
    for level in levels if is_down else reversed(levels):
        layer = layering.layers[level]
        if len(layer) > 1:
            layer.sort(key=lambda i: _mean(near[i], place, place[i]))
            for index, item in enumerate(layer):
                place[item] = index


def _mean(items: Sequence[int], place: Sequence[int], default: int) -> float:
    return sum(place[i] for i in items) / len(items) if items else default


def _places(layering: Layering) -> list[int]:
    place = [0] * len(layering.keys)
    for layer in layering.layers:
        for index, item in enumerate(layer):
            place[item] = index
    return place


def _swap_neighbors(layering: Layering) -> None:
    """Swaps two items side by side wherever that takes crossings away."""
    place = _places(layering)
    for layer in layering.layers:
        for k in range(len(layer) - 1):
            a, b = layer[k], layer[k + 1]
            gain = 0
            for near in (layering.up, layering.down):
                for x in near[a]:
                    for y in near[b]:
                        gain += (place[x] > place[y]) - (place[x] < place[y])
            if gain > 0:
                layer[k], layer[k + 1] = b, a
                place[a], place[b] = k + 1, k


def count_crossings(layering: Layering) -> int:
    """Pairs of edges between neighboring layers that cross."""
    place = _places(layering)
    crossings = 0
    for layer in layering.layers:
        seen: list[int] = []
        for item in layer:
            ends = sorted(place[j] for j in layering.down[item])
            for end in ends:
                crossings += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
    return crossings
