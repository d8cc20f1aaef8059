"""Placement of a problem's card: beside its node, in the part of the canvas that is seen and free.
Qt-free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.core.network.routing import Box
from workbench.gui.design.canvas.style import RADIUS

DISTANCE = 24.0
_MARGIN = 10.0
_STEP = 40.0
_STEPS = 30

Place = tuple[float, float]
Size = tuple[float, float]


@dataclass(frozen=True)
class Room:
    """What is seen of the scene, in scene pixels.

    Attributes:
        seen: The view without a margin at its edges.
        bars: What lies over it: overview, zoom buttons, search.
        zoom: Pixels of the screen for one of the scene.
    """

    seen: Box
    bars: tuple[Box, ...]
    zoom: float

    def is_free(self, box: Box) -> bool:
        """Whether a box is seen whole and covered by nothing."""
        return _is_inside(box, self.seen) and not any(box.overlaps(bar) for bar in self.bars)


def beside(node: Box, size: Size, cards: Sequence[Box]) -> Place:
    """Beside a node, whatever is seen: on the nearest place that covers no other card, and from
    which the line to the node crosses none, if there is one.
    """
    width, height = size
    top = (node.top + node.bottom) / 2 - height / 2
    nearest = None
    for x in _lefts(node, width, _STEP):
        box = _box((x, top), size)
        if _covered(box, cards):
            continue
        if not crossed(node, box, cards):
            return x, top
        nearest = x if nearest is None else nearest
    beyond = max(card.right for card in (node, *cards)) + DISTANCE
    return beyond if nearest is None else nearest, top


def within(node: Box, size: Size, cards: Sequence[Box], room: Room) -> Place:
    """Near a node, where all of the card is seen: if it can be on a place that covers no other
    card, where the line to the node crosses none, and nearest to the node.
    """
    near = [card for card in cards if card.overlaps(room.seen)]
    boxes = [_box(place, size) for place in _places(node, size, room)]
    flaws = [(not room.is_free(box), box.overlaps(node, DISTANCE - 1)) for box in boxes]
    best = min(flaws)

    # Most places are out already: how much they cover takes longest to work out.
    kept = [box for box, flaw in zip(boxes, flaws, strict=True) if flaw == best]
    covered = [sum(_common(box, card) for card in near) for box in kept]
    least = [box for box, area in zip(kept, covered, strict=True) if area == min(covered)]
    found = min(least, key=lambda box: (crossed(node, box, near), _distance(box, node)))
    return found.left, found.top


def line_between(node: Box, box: Box) -> tuple[Place, Place]:
    """The line from the edge of a node to a card's box, which it meets off its round corners."""
    across, down = (node.left + node.right) / 2, (node.top + node.bottom) / 2
    if box.left >= node.right or box.right <= node.left:
        x, end = (node.right, box.left) if box.left >= node.right else (node.left, box.right)
        return (x, down), (end, _clamped(down, box.top + RADIUS, box.bottom - RADIUS))
    y, end = (node.bottom, box.top) if box.top >= node.bottom else (node.top, box.bottom)
    return (across, y), (_clamped(across, box.left + RADIUS, box.right - RADIUS), end)


def crossed(node: Box, box: Box, cards: Sequence[Box]) -> bool:
    """Whether the line from a node to a card's box runs over another node."""
    (x, y), (end_x, end_y) = line_between(node, box)
    line = Box(min(x, end_x), min(y, end_y), max(x, end_x), max(y, end_y))
    return any(line.overlaps(card) for card in cards)


def _places(node: Box, size: Size, room: Room) -> Iterator[Place]:
    width, height = size
    seen = room.seen
    middle = (node.top + node.bottom) / 2 - height / 2
    across = (node.left + node.right) / 2 - width / 2
    edges = [edge for bar in room.bars for edge in (bar.top - height, bar.bottom)]
    tops = dict.fromkeys(
        _clamped(y, seen.top, seen.bottom - height) for y in (middle, *edges, seen.top)
    )
    lefts = [*_lefts(node, width, _STEP / min(1.0, room.zoom)), seen.left, seen.right - width]
    for x in lefts:
        yield from ((x, y) for y in tops)
    for y in (node.bottom + DISTANCE, node.top - DISTANCE - height):
        yield _clamped(across, seen.left, seen.right - width), y
        yield from ((bar.right, y) for bar in room.bars)
        yield from ((bar.left - width, y) for bar in room.bars)


def _lefts(node: Box, width: float, step: float) -> Iterator[float]:
    """Left edges to try: right beside the node, left beside it, then further away."""
    for number in range(_STEPS):
        yield node.right + DISTANCE + number * step
        if number % 3 == 0:
            yield node.left - DISTANCE - width - number * step


def _box(place: Place, size: Size) -> Box:
    return Box(place[0], place[1], place[0] + size[0], place[1] + size[1])


def _covered(box: Box, cards: Sequence[Box]) -> bool:
    return any(box.overlaps(card, _MARGIN) for card in cards)


def _common(a: Box, b: Box) -> float:
    """The area that both cover."""
    across = min(a.right, b.right) - max(a.left, b.left)
    down = min(a.bottom, b.bottom) - max(a.top, b.top)
    return max(0.0, across) * max(0.0, down)


def _distance(a: Box, b: Box) -> float:
    """How far apart two boxes are; boxes beside each other at one height before others."""
    across = max(0.0, a.left - b.right, b.left - a.right)
    down = max(0.0, a.top - b.bottom, b.top - a.bottom)
    off = abs((a.top + a.bottom) / 2 - (b.top + b.bottom) / 2)
    return across + 2 * down + off / 1000


def _is_inside(box: Box, outer: Box) -> bool:
    return (
        box.left >= outer.left
        and box.right <= outer.right
        and box.top >= outer.top
        and box.bottom <= outer.bottom
    )


def _clamped(value: float, low: float, high: float) -> float:
    return max(low, min(value, high))
