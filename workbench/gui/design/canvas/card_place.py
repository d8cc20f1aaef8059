"""Where a problem's card lies: beside its node, in the part of the canvas that is seen and free.
Qt-free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.gui.design.canvas.routing import Box

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
    """Beside a node, whatever is seen: on the nearest place that covers no other card."""
    width, height = size
    top = (node.top + node.bottom) / 2 - height / 2
    lefts = list(_lefts(node, width, _STEP))
    free = (x for x in lefts if not _covered(_box((x, top), size), cards))
    return next(free, max(card.right for card in (node, *cards)) + DISTANCE), top


def within(node: Box, size: Size, cards: Sequence[Box], room: Room) -> Place:
    """Near a node, where all of the card is seen: if it can be on a place that covers no other
    card, and nearest to the node.
    """
    near = [card for card in cards if card.overlaps(room.seen)]
    boxes = [_box(place, size) for place in _places(node, size, room)]
    flaws = [(not room.is_free(box), box.overlaps(node, DISTANCE - 1)) for box in boxes]
    best = min(flaws)

    def rank(box: Box) -> tuple[float, float]:
        return sum(_common(box, card) for card in near), _distance(box, node)

    # Most places are out already: how much they cover takes longest to work out.
    found = min((box for box, flaw in zip(boxes, flaws, strict=True) if flaw == best), key=rank)
    return found.left, found.top


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
