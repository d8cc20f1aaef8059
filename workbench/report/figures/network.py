"""The network as layers from top to bottom; folded groups are one card. A long network goes on in
further columns, cut where a single connection crosses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.core.checks.analysis import Analysis
from workbench.core.format import plural, shape_text, short
from workbench.core.network.folding import Folding
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.layout import Position, arrange
from workbench.core.network.routing import Box, Point, Router
from workbench.core.params import check_all
from workbench.layers import all_layers
from workbench.report.blocks import (
    CATEGORIES,
    Drawing,
    Label,
    Line,
    Mark,
    Rect,
    fitted,
    plain_name,
    text_width,
)

# cards ---------------------------------------------------------------------------------------
# What the card of a layer, or of a folded group, says in a report.

TRAINED = {"always": "yes", "fine_tuning": "in fine-tuning", "never": "no (frozen)"}
"""When a layer learns."""


@dataclass(frozen=True)
class Card:
    """A layer, or all layers of a group.

    Attributes:
        title: Its type, or the name of the group.
        name: Its name; "" for a group.
        settings: What differs from the defaults, in words.
        shape: Output shape in words; "" where it is not known.
        parameters: Numbers that it learns or keeps.
        trained: When it learns, in words.
        category: Category of its type, for the color.
    """

    title: str
    name: str
    settings: str
    shape: str
    parameters: int
    trained: str
    category: str

    @property
    def detail(self) -> str:
        """The second line of its card; an Input's settings are its shape."""
        is_shape = self.settings.replace("×", " × ") == self.shape
        return " → ".join(filter(None, ("" if is_shape else self.settings, self.shape)))

    @property
    def words(self) -> str:
        """All of it in a line."""
        parts = (self.title, self.name, self.settings, f"output {self.shape}" if self.shape else "")
        count = f"{self.parameters:,} parameters" if self.parameters else ""
        return " · ".join(filter(None, (*parts, count)))


def cards_of(folding: Folding, analysis: Analysis) -> dict[str, Card]:
    """The card of each shown node, in the order of the network."""
    return {
        key: _group_card(folding, key, analysis)
        if key in folding.members
        else _layer_card(folding.graph.nodes[key], analysis)
        for key in folding.graph.order
    }


def _layer_card(node: Node, analysis: Analysis) -> Card:
    spec = all_layers().get(node.kind)
    cost, shape = analysis.costs.nodes.get(node.id), analysis.shapes.get(node.id)
    settings = "" if spec is None else spec.describe(check_all(spec.params, node.params)[0])
    parameters = cost.parameters.total if cost is not None else 0
    return Card(
        title=spec.title if spec is not None else plain_name(node.kind),
        name=plain_name(node.name),
        settings=plain_name(settings) if settings else "",
        shape=shape_text(shape) if shape else "",
        parameters=parameters,
        trained=TRAINED[node.training] if parameters else "",
        category=spec.category if spec is not None else "",
    )


def _group_card(folding: Folding, key: str, analysis: Analysis) -> Card:
    members = folding.members[key]
    nodes = [folding.full.nodes[member] for member in members]
    costs = [analysis.costs.nodes[member] for member in members if member in analysis.costs.nodes]
    shape = analysis.shapes.get(folding.exit(key))
    kinds = {node.training for node in nodes if analysis.costs.nodes.get(node.id) is not None}
    learned = [TRAINED[kind] for kind in TRAINED if kind in kinds]
    is_pretrained = any(node.pretrained for node in nodes)
    words = plural(len(members), "layer") + (", pretrained" if is_pretrained else "")
    return Card(
        title=plain_name(nodes[0].group),
        name="",
        settings=words,
        shape=shape_text(shape) if shape else "",
        parameters=sum(cost.parameters.total for cost in costs),
        trained=learned[0] if len(learned) == 1 else "partly",
        category="backbone" if is_pretrained else "core",
    )


# network -------------------------------------------------------------------------------------

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
