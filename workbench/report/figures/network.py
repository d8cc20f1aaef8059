"""The network as layers from top to bottom; folded groups are one card. A long network goes on in
further columns, cut where a single connection crosses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from workbench.core.checks.analysis import Analysis
from workbench.core.format import short
from workbench.core.network.folding import Folding
from workbench.core.network.graph import Edge, Graph
from workbench.core.network.layout import Position, arrange
from workbench.core.network.routing import Box, Point, Router
from workbench.report.drawing import Drawing, Label, Line, Mark, Rect, fitted, text_width
from workbench.report.figures.cards import Card, cards_of
from workbench.report.palette import CATEGORIES

_WIDTH, _HEIGHT = 224.0, 46.0
_PAD = 10.0
_COLUMN_GAP = 56.0
_ASPECT = 1.8
"""Width over height that the columns aim at: about that of a page on a screen."""

_FEW = 9
"""Cards that stay in one column."""

MOST_CARDS = 400
"""A figure of more would be a gray strip."""


def network_drawing(graph: Graph, analysis: Analysis) -> Drawing | None:
    """The network; None where it has no layers, or too many to be drawn."""
    folding = Folding.of(graph, graph.groups)
    shown = folding.graph
    if not shown.nodes or len(shown.nodes) > MOST_CARDS or shown.has_cycle():
        return None
    cards = cards_of(folding, analysis)
    places = arrange(shown, dict.fromkeys(shown.nodes, (_WIDTH, _HEIGHT)))
    columns = _columns(shown, places)
    boxes = {key: Box(x, y, x + _WIDTH, y + _HEIGHT) for key, (x, y) in places.items()}
    routes = Router(boxes).route_all(shown.edges)
    moves = _moves(columns, boxes, routes)
    lefts = {key: min(boxes[each].left for each in ids) for ids in columns for key in ids}
    marks = [
        mark
        for edge in shown.edges
        for mark in _edge(edge, routes[edge], moves, lefts[edge.target] + moves[edge.target][0])
    ]
    marks += [mark for key, box in boxes.items() for mark in _card(cards[key], box, moves[key])]
    right = max(box.right + moves[key][0] for key, box in boxes.items())
    lanes = [x + moves[edge.target][0] for edge, way in routes.items() for x, _ in way]
    bottom = max(box.bottom + moves[key][1] for key, box in boxes.items())
    width = max([right, *lanes]) + _PAD
    return Drawing(width=width, height=bottom + _PAD, marks=marks)


def _columns(graph: Graph, places: Mapping[str, Position]) -> list[list[str]]:
    """The cards of each column: cut at heights that one connection crosses."""
    levels = sorted({y for _, y in places.values()})
    wide = max(x for x, _ in places.values()) - min(x for x, _ in places.values()) + _WIDTH
    high = levels[-1] + _HEIGHT
    count = max(1, round(math.sqrt(_ASPECT * high / (wide + _COLUMN_GAP))))
    if len(graph.nodes) <= _FEW or count == 1:
        return [list(places)]
    bridges = [y for y in levels[1:] if _crossing(graph, places, y) == 1]
    cuts: list[float] = []
    for number in range(1, count):
        wanted = high * number / count
        later = [y for y in bridges if not cuts or y > cuts[-1]]
        if later:
            cuts.append(min(later, key=lambda y: abs(y - wanted)))
    columns: list[list[str]] = [[] for _ in range(len(cuts) + 1)]
    for key, (_, y) in places.items():
        columns[sum(y >= cut for cut in cuts)].append(key)
    return columns


def _crossing(graph: Graph, places: Mapping[str, Position], cut: float) -> int:
    """Connections from above a height to below it; all where a loose card lies beside."""
    return sum(places[edge.source][1] < cut <= places[edge.target][1] for edge in graph.edges)


def _moves(
    columns: Sequence[Sequence[str]],
    boxes: Mapping[str, Box],
    routes: Mapping[Edge, Sequence[Point]],
) -> dict[str, Point]:
    """How far each card is moved to stand in its column."""
    moves: dict[str, Point] = {}
    left = _PAD
    for column in columns:
        inside = set(column)
        lanes = [
            x
            for edge, way in routes.items()
            if edge.source in inside and edge.target in inside
            for x, _ in way
        ]
        low = min([*lanes, *(boxes[key].left for key in column)])
        high = max([*lanes, *(boxes[key].right for key in column)])
        move = (left - low, _PAD - min(boxes[key].top for key in column))
        moves |= dict.fromkeys(column, move)
        left += high - low + _COLUMN_GAP
    return moves


def _edge(
    edge: Edge, route: Sequence[Point], moves: Mapping[str, Point], left: float
) -> list[Mark]:
    """A connection; `left` is where the column of its target begins."""
    (dx, dy), (to_dx, to_dy) = moves[edge.source], moves[edge.target]
    if (dx, dy) == (to_dx, to_dy):
        way = [(x + dx, y + dy) for x, y in route]
        return [Line(points=way, stroke="faint", is_smooth=True, has_arrow=True)]
    # Into the next column: through the gap in front of it.
    (x, y), (to_x, to_y) = route[0], route[-1]
    x, y, to_x, to_y = x + dx, y + dy, to_x + to_dx, to_y + to_dy
    middle = left - _COLUMN_GAP / 2
    way = [(x, y), (x, y + 8), (middle, y + 8), (middle, to_y - 8), (to_x, to_y - 8), (to_x, to_y)]
    return [Line(points=way, stroke="faint", has_arrow=True)]


def _card(card: Card, box: Box, move: Point) -> list[Mark]:
    x, y = box.left + move[0], box.top + move[1]
    color = CATEGORIES.get(card.category, CATEGORIES["core"])
    marks: list[Mark] = [
        Rect(
            x=x,
            y=y,
            width=_WIDTH,
            height=_HEIGHT,
            fill="panel",
            stroke="line",
            radius=7,
            title=card.words,
        ),
        Rect(x=x, y=y + 6, width=4, height=_HEIGHT - 12, fill=color, radius=2),
    ]
    room = _WIDTH - 24
    count = short(card.parameters) if card.parameters else ""
    title = fitted(card.title, room - (44 if count else 0), 13)
    marks.append(Label(x=x + 14, y=y + 19, text=title, size=13, is_bold=True))
    if count:
        right = x + _WIDTH - 10
        marks.append(Label(x=right, y=y + 19, text=count, size=11, color="dim", anchor="end"))
    words = card.detail
    if text_width(words, 11) > room and card.shape:  # the shape is what people look for
        shape = f"→ {card.shape}"
        words = f"{fitted(card.settings, room - text_width(shape, 11) - 4, 11)} {shape}"
    words = fitted(words, room, 11)
    marks.append(Label(x=x + 14, y=y + 36, text=words, size=11, color="dim"))
    return marks
