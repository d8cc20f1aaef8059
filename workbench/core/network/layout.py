"""Layout of the graph by "Arrange": layers from top to bottom, without overlaps.

The longest path is one straight column, skips run in lanes beside it. The steps are those
of layered graph drawing: rank by longest path, a dummy for each layer that an edge passes,
order by barycenter sweeps, then straighten by isotonic regression.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers
from workbench.core.params import check_all
from workbench.core.specs import LayerSpec

# layering ------------------------------------------------------------------------------------
# Ranks, dummies and the order inside each layer: the first half of `core.network.layout`.

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


# layout --------------------------------------------------------------------------------------

NODE_WIDTH = 236.0
NODE_HEIGHT = 52.0
SHORT_NODE_HEIGHT = 36.0
"""A card whose settings are all defaults has no second line."""

GAP = 36.0
"""Between two cards of a column: room for the shape text beside the edge."""
BRANCH_GAP = 48.0
"""Between two layers where an edge leaves its column."""
COLUMN_GAP = 40.0
LANE = 16.0
"""Width kept free for an edge that passes a layer."""
COMPONENT_GAP = 80.0
_LOOSE_PER_COLUMN = 10
_LONGEST_COLUMN = 2_000.0
"""About 25 layers: a longer column cannot be read when all of it is seen."""
_ASPECT = 1.25
"""Width by height of the canvas, about."""
_SHORTEST = 0.4
"""Least height of a column, as a share of the wanted one."""
_FULL_ENOUGH = 1.35
"""What is left of a network becomes no column of its own below so much of a column."""
_STRAIGHTENING_PASSES = 12

Size = tuple[float, float]
"""Width and height of a card, scene pixels."""

Position = tuple[float, float]
"""Upper left corner of a card, scene pixels."""


def node_size(kind: str, params: Mapping[str, object], layers: Layers) -> Size:
    """Width and height of a node's card in scene pixels."""
    spec = layers.get(kind)
    has_words = spec is None or bool(_words(spec, params))
    return NODE_WIDTH, NODE_HEIGHT if has_words else SHORT_NODE_HEIGHT


def _words(spec: LayerSpec, params: Mapping[str, object]) -> str:
    """The second line. Values are checked only where a hand-edited one breaks it: checking
    all of them at every edit would be felt in large networks.
    """
    try:
        return spec.describe({**spec.defaults(), **params})
    except (TypeError, ValueError, KeyError, IndexError, AttributeError):
        return spec.describe(check_all(spec.params, params)[0])


def node_sizes(graph: Graph, layers: Layers) -> dict[str, Size]:
    """Width and height of every card: the `sizes` of `arrange`."""
    return {key: node_size(node.kind, node.params, layers) for key, node in graph.nodes.items()}


def arrange(graph: Graph, sizes: Mapping[str, Size] | None = None) -> dict[str, Position]:
    """The top-left corner of each node in scene pixels: (0, 0) for the first node of the longest
    path of the first connected part. Cards have the usual size where `sizes` has none.
    """
    known = sizes or {}
    full = {key: known.get(key, (NODE_WIDTH, NODE_HEIGHT)) for key in graph.nodes}
    parts = _components(graph)
    positions: dict[str, Position] = {}
    left = 0.0
    for part in (part for part in parts if len(part) > 1):
        placed = _arrange_part(graph, part, full)
        low = min(x for x, _ in placed.values())
        shift = left - low if positions else 0.0
        positions.update({key: (x + shift, y) for key, (x, y) in placed.items()})
        left = COMPONENT_GAP + max(positions[key][0] + full[key][0] for key in placed)
    _stack_loose([part[0] for part in parts if len(part) == 1], full, left, positions)
    return positions


def _components(graph: Graph) -> list[list[str]]:
    """Connected parts, each in the graph's own order, largest first."""
    part_of: dict[str, str] = {key: key for key in graph.nodes}

    def root(key: str) -> str:
        while part_of[key] != key:
            part_of[key] = part_of[part_of[key]]
            key = part_of[key]
        return key

    for edge in graph.edges:
        part_of[root(edge.source)] = root(edge.target)
    parts: dict[str, list[str]] = {}
    for key in graph.nodes:
        parts.setdefault(root(key), []).append(key)
    return sorted(parts.values(), key=len, reverse=True)


def _stack_loose(
    loose: Sequence[str], sizes: Mapping[str, Size], left: float, positions: dict[str, Position]
) -> None:
    """Puts nodes without edges in columns to the right of everything else."""
    x = left
    for start in range(0, len(loose), _LOOSE_PER_COLUMN):
        column = loose[start : start + _LOOSE_PER_COLUMN]
        y = 0.0
        for key in column:
            positions[key] = (x, y)
            y += sizes[key][1] + GAP
        x += max(sizes[key][0] for key in column) + COLUMN_GAP


def _arrange_part(
    graph: Graph, part: Sequence[str], sizes: Mapping[str, Size]
) -> dict[str, Position]:
    """Lays out one connected part of the graph."""
    layering = Layering.of(graph, part)
    order_layers(layering)
    widths = [LANE if key is None else sizes[key][0] for key in layering.keys]
    centers = _straighten(layering, widths)
    heights = [
        max(sizes[key][1] for i in layer if (key := layering.keys[i]) is not None)
        for layer in layering.layers
    ]
    tops = _tops(layering, heights, centers)
    first = layering.trunk[0]
    offset = widths[first] / 2 - centers[first]
    lefts = [center - width / 2 + offset for center, width in zip(centers, widths, strict=True)]
    moves = _columns(layering, graph, lefts, widths, [*tops, tops[-1] + heights[-1]])
    return {
        key: (
            round(lefts[i] + moves[rank][0]),
            round(tops[rank] + moves[rank][1] + (heights[rank] - sizes[key][1]) / 2),
        )
        for i, (key, rank) in enumerate(zip(layering.keys, layering.rank, strict=True))
        if key is not None
    }


def _columns(
    layering: Layering,
    graph: Graph,
    lefts: Sequence[float],
    widths: Sequence[float],
    tops: Sequence[float],
) -> list[Position]:
    """How far each layer is moved, so that a long network becomes columns beside each other, each
    read from top to bottom. It is cut where all that follows comes from one card.

    Args:
        layering: The network.
        graph: The same.
        lefts: Left side of each item, scene pixels.
        widths: Width of each item, scene pixels.
        tops: Top of each layer, and the end of the last, scene pixels.
    """
    moves = [(0.0, 0.0)] * len(layering.layers)
    spread = [(min(lefts[i] for i in layer), max(lefts[i] + widths[i] for i in layer))
              for layer in layering.layers]  # fmt: skip
    wide = max(right for _, right in spread) - min(left for left, _ in spread) + COMPONENT_GAP
    if tops[-1] <= _LONGEST_COLUMN:
        return moves
    wanted = tops[-1] / max(1, round((_ASPECT * tops[-1] / wide) ** 0.5))
    start, right = 0, 0.0
    for cut in [*_cuts(layering, graph, tops, wanted), len(moves)]:
        left = min(spread[rank][0] for rank in range(start, cut))
        dx = right + COMPONENT_GAP - left if start else 0.0
        for rank in range(start, cut):
            moves[rank] = dx, -tops[start]
        right = dx + max(spread[rank][1] for rank in range(start, cut))
        start = cut
    return moves


def _feeding(layering: Layering, graph: Graph) -> list[int]:
    """How many cards above each layer feed it or one below it."""
    ranks = dict(zip(layering.keys, layering.rank, strict=True))
    counts = [0] * len(layering.layers)
    for key, rank in ranks.items():
        last = rank if key is None else max((ranks[t] for t in graph.targets(key)), default=rank)
        for below in range(rank + 1, last + 1):
            counts[below] += 1
    return counts


def _cuts(layering: Layering, graph: Graph, tops: Sequence[float], wanted: float) -> list[int]:
    """The layers that begin a new column: of those that a single card feeds, with all behind it,
    the ones nearest to a wanted height of the columns.
    """
    feeding = _feeding(layering, graph)
    able = [rank for rank, count in enumerate(feeding) if count == 1]
    cuts: list[int] = []
    start = 0.0
    while tops[-1] - start > wanted * _FULL_ENOUGH:
        later = [rank for rank in able if tops[rank] - start > wanted * _SHORTEST]
        nearest = min(later, key=lambda rank: abs(tops[rank] - start - wanted), default=None)
        if nearest is None:
            break
        cuts.append(nearest)
        start = tops[nearest]
    return cuts


def _tops(layering: Layering, heights: Sequence[float], centers: Sequence[float]) -> list[float]:
    """The y of each layer: a wider gap where an edge has to leave its column."""
    tops = [0.0]
    for above, height in enumerate(heights[:-1]):
        is_straight = all(
            abs(centers[i] - centers[j]) < 1
            for i in layering.layers[above]
            for j in layering.down[i]
        )
        tops.append(tops[-1] + height + (GAP if is_straight else BRANCH_GAP))
    return tops


def _straighten(layering: Layering, widths: Sequence[float]) -> list[float]:
    """Centers of all items: near their neighbors, in order, without overlaps.

    The trunk is at 0; the items left and right of it are moved towards the mean of
    their neighbors, alternately those above and those below.
    """
    centers = [0.0] * len(layering.keys)
    for layer in layering.layers:
        _spread(layer, [0.0] * len(layer), layering, widths, centers)
    for sweep in range(_STRAIGHTENING_PASSES):
        is_down = sweep % 2 == 0
        layers = layering.layers if is_down else reversed(layering.layers)
        for layer in layers:
            if len(layer) > 1:
                wanted = [_wanted(i, layering, centers, is_down=is_down) for i in layer]
                _spread(layer, wanted, layering, widths, centers)
    return centers


def _wanted(item: int, layering: Layering, centers: Sequence[float], *, is_down: bool) -> float:
    """The preferred place of an item.

    Neighbors off the trunk come first, so that a branch or a lane stays straight instead
    of leaning towards the column that it left.
    """
    near = layering.up[item] if is_down else layering.down[item]
    beside = [i for i in near if not layering.is_trunk[i]]
    chosen = beside or near
    if not chosen:
        return centers[item]
    if not beside and (layering.up[item] if not is_down else layering.down[item]):
        return centers[item]  # the other side's neighbors decide
    return sum(centers[i] for i in chosen) / len(chosen)


def _spread(
    layer: Sequence[int],
    wanted: Sequence[float],
    layering: Layering,
    widths: Sequence[float],
    centers: list[float],
) -> None:
    """Sets the centers of one layer: nearest to `wanted` that keeps order and distances."""
    middle = next((k for k, i in enumerate(layer) if layering.is_trunk[i]), 0)
    right = _one_side(layer[middle:], wanted[middle:], layering, widths)
    left = _one_side(layer[middle::-1], [-x for x in wanted[middle::-1]], layering, widths)
    for item, x in zip(layer[middle:], right, strict=True):
        centers[item] = x
    for item, x in zip(layer[middle::-1], left, strict=True):
        centers[item] = -x


def _one_side(
    items: Sequence[int], wanted: Sequence[float], layering: Layering, widths: Sequence[float]
) -> list[float]:
    """Centers of items that follow the first, which is at 0, in growing order."""
    offsets = [0.0]
    for a, b in pairwise(items):
        is_lane = layering.keys[a] is None or layering.keys[b] is None
        gap = LANE if is_lane else COLUMN_GAP
        offsets.append(offsets[-1] + (widths[a] + widths[b]) / 2 + gap)
    free = _pool(x - offset for x, offset in zip(wanted[1:], offsets[1:], strict=True))
    return [0.0, *(max(x, 0.0) + o for x, o in zip(free, offsets[1:], strict=True))]


def _pool(values: Iterable[float]) -> list[float]:
    """The nearest never-falling sequence (pool adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] * count > total * blocks[-1][1]:
            before, size = blocks.pop()
            total, count = total + before, count + size
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]
