"""How edges run: straight where they can, in a free lane beside the cards where not.

Pure geometry on plain numbers, so that it can be tested without a window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.core.network.graph import Edge

Point = tuple[float, float]
Route = tuple[Point, ...]

BUCKET = 96.0
CLEARANCE = 12.0
"""Distance between a lane and the cards beside it."""
LANE_STEP = 12.0
TURN = 40.0
"""Height in which an edge changes from its column into a lane."""
LOOP = 20.0
"""How far an edge that must run upwards first goes down, and comes in from above."""
PORT_STEP = 24.0
_SAMPLES = 12


@dataclass(frozen=True)
class Box:
    """A card: left, top, right, bottom in scene pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def center_x(self) -> float:
        return (self.left + self.right) / 2

    @property
    def card(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return self.left, self.top, self.right, self.bottom

    def overlaps(self, other: Box, margin: float = 0.0) -> bool:
        """Whether the other box is nearer than a margin."""
        return (
            other.left < self.right + margin
            and other.right > self.left - margin
            and other.top < self.bottom + margin
            and other.bottom > self.top - margin
        )


@dataclass
class Router:
    """Finds the way of each edge around the cards: `boxes`, by the ids of their nodes."""

    boxes: Mapping[str, Box]
    _rows: dict[int, list[str]] = field(default_factory=dict)
    _lanes: list[tuple[str, Box]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for key, box in self.boxes.items():
            for row in range(int(box.top // BUCKET), int(box.bottom // BUCKET) + 1):
                self._rows.setdefault(row, []).append(key)

    def route_all(self, edges: Iterable[Edge]) -> dict[Edge, Route]:
        """Points of every edge; short edges choose their lanes first."""
        known = [e for e in edges if e.source in self.boxes and e.target in self.boxes]
        ends = end_points(known, self.boxes)

        def length(edge: Edge) -> float:
            return abs(self.boxes[edge.target].top - self.boxes[edge.source].bottom)

        return {edge: self.route(edge, ends[edge]) for edge in sorted(known, key=length)}

    def route(self, edge: Edge, end: Point) -> Route:
        """Points of one edge from the source's lower side to `end`."""
        source = self.boxes[edge.source]
        start = (source.center_x, source.bottom)
        if end[1] < start[1] + LOOP:
            return self._loop(edge, start, end)
        others = self._between(start[1], end[1], {edge.source, edge.target})
        if not _is_blocked(start, end, others):
            return (start, end)
        top, bottom = start[1] + TURN, end[1] - TURN
        if bottom <= top:
            top = bottom = (start[1] + end[1]) / 2
        x = self._lane_x(edge.source, (start[0], end[0]), (top, bottom), others)
        return (start, (x, top), (x, bottom), end)

    def _loop(self, edge: Edge, start: Point, end: Point) -> Route:
        """The way of an edge whose target is above its source, or beside it."""
        top, bottom = end[1] - LOOP, start[1] + LOOP
        boxes = self._between(top, bottom, set())
        x = self._lane_x(edge.source, (start[0], end[0]), (top, bottom), boxes)
        low, high = (start[0], bottom), (end[0], top)
        return (start, low, (x, bottom), (x, top), high, end)

    def _between(self, top: float, bottom: float, without: set[str]) -> list[Box]:
        """Cards that reach into a band, without some."""
        low, high = min(top, bottom), max(top, bottom)
        found: dict[str, Box] = {}
        for row in range(int(low // BUCKET), int(high // BUCKET) + 1):
            for key in self._rows.get(row, ()):
                box = self.boxes[key]
                if key not in without and box.bottom > low and box.top < high:
                    found[key] = box
        return list(found.values())

    def _lane_x(
        self, source: str, ends: tuple[float, float], band: tuple[float, float], boxes: list[Box]
    ) -> float:
        """The free x nearest to both ends; the right side wins a draw."""
        sides = {x for box in boxes for x in (box.right + CLEARANCE, box.left - CLEARANCE)}
        candidates = {*ends, *sides}
        for _, lane in self._lanes:
            if lane.top < band[1] and lane.bottom > band[0]:
                candidates |= {lane.left + LANE_STEP, lane.left - LANE_STEP, lane.left}

        def cost(x: float) -> tuple[float, float]:
            return (abs(x - ends[0]) + abs(x - ends[1]), -x)

        free = (x for x in sorted(candidates, key=cost) if self._is_free(x, source, band, boxes))
        x = next(free, max(candidates) + LANE_STEP)
        self._lanes.append((source, Box(x, band[0], x, band[1])))
        return x

    def _is_free(self, x: float, source: str, band: tuple[float, float], boxes: list[Box]) -> bool:
        top, bottom = band  # compared here, not by `overlaps`: most of the time goes into this
        for box in boxes:
            is_beside = x <= box.left - CLEARANCE or x >= box.right + CLEARANCE
            if not is_beside and box.bottom > top and box.top < bottom:
                return False
        return not any(
            key != source
            and abs(lane.left - x) < LANE_STEP
            and lane.top < bottom
            and lane.bottom > top
            for key, lane in self._lanes
        )


def end_points(edges: Sequence[Edge], boxes: Mapping[str, Box]) -> dict[Edge, Point]:
    """Point at which each edge meets the upper side of its target.

    An edge from straight above ends in the middle; those from the left and the right end
    beside it in their order, so that lines do not cross at the card.
    """
    into: dict[str, list[Edge]] = {}
    for edge in edges:
        into.setdefault(edge.target, []).append(edge)
    ends: dict[Edge, Point] = {}
    for target, incoming in into.items():
        box = boxes[target]
        incoming.sort(key=lambda e: (boxes[e.source].center_x, -boxes[e.source].bottom, e.port))
        offsets = [boxes[e.source].center_x - box.center_x for e in incoming]
        middle = _middle(incoming, offsets, boxes)
        step = min(PORT_STEP, (box.right - box.left - 48) / max(1, 2 * len(incoming)))
        for index, edge in enumerate(incoming):
            ends[edge] = (box.center_x + (index - middle) * step, box.top)
    return ends


def _middle(edges: Sequence[Edge], offsets: Sequence[float], boxes: Mapping[str, Box]) -> float:
    """Index of the edge that ends in the middle: the nearest one from straight above."""
    straight = [i for i, offset in enumerate(offsets) if abs(offset) < 1]
    if straight:
        return max(straight, key=lambda i: boxes[edges[i].source].bottom)
    return (len(offsets) - 1) / 2


def _is_blocked(start: Point, end: Point, boxes: Iterable[Box]) -> bool:
    """True when the curve from start to end would run through one of the cards."""
    low, high = min(start[0], end[0]) - CLEARANCE, max(start[0], end[0]) + CLEARANCE
    near = [box for box in boxes if box.right > low and box.left < high]
    if not near:
        return False
    if start[0] == end[0]:
        return True
    for step in range(1, _SAMPLES):
        x, y = _on_curve(start, end, step / _SAMPLES)
        if any(box.overlaps(Box(x, y, x, y), CLEARANCE / 2) for box in near):
            return True
    return False


def _on_curve(start: Point, end: Point, t: float) -> Point:
    """Point of the S-curve whose control points are at half height."""
    ease = t * t * (3 - 2 * t)
    middle = (start[1] + end[1]) / 2
    s = 1 - t
    y = s**3 * start[1] + 3 * s * s * t * middle + 3 * s * t * t * middle + t**3 * end[1]
    return (start[0] + (end[0] - start[0]) * ease, y)
