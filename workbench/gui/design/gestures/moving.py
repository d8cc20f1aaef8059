"""Gestures that place layers: dropping from the palette, moving, choosing, the rubber band."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QLineF, QMimeData, QPointF, QRectF, Qt
from PySide6.QtWidgets import QApplication

from workbench.backbones import all_backbones
from workbench.core.checks.problems import Fix
from workbench.core.network.folding import GROUP_HEIGHT
from workbench.core.network.graph import Edge
from workbench.core.network.layout import GAP, NODE_WIDTH
from workbench.core.specs import BackboneSpec, LayerSpec
from workbench.document.placement import aside
from workbench.gui.design.canvas.gesture import BACKBONE_MIME, LAYER_MIME, PORT_REACH, Gesture
from workbench.gui.design.canvas.items import EdgeItem, NodeItem
from workbench.gui.design.canvas.scene import distance
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView
from workbench.gui.design.gestures.connecting import DragConnection, click_edge
from workbench.gui.design.gestures.marks import (
    GhostItem,
    GuideItem,
    Placement,
    RubberBandItem,
    card_height,
    cards,
    edge_to_split,
    fed_at,
    on_edge,
    place_at,
)

# move nodes ----------------------------------------------------------------------------------
# Dragging cards: a click selects, a drag moves all that is selected, as one undo step.

SNAP = 7.0
"""How near, in scene pixels, a card is pulled into line with another."""
_TOGGLING = Qt.KeyboardModifier.ControlModifier
_ADDING = Qt.KeyboardModifier.ShiftModifier
_COPYING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


class MoveNodes(Gesture):
    """Moves the selected cards; they line up with others unless Shift is held.

    One card that is dropped on a connection goes there, and its chain is closed. With Ctrl or
    Alt copies are dropped instead: Alt is the key of other editors, but some window managers
    take it to move windows, and Ctrl copies in file managers.

    Args:
        view: The canvas.
        item: The card that is pressed, or that lines up.
        ids: All cards that are pressed, those of a frame; none for `item` alone.
    """

    def __init__(self, view: ZoomView, item: NodeItem, ids: Iterable[str] = ()) -> None:
        super().__init__(view)
        self._item = item
        self._pressed = frozenset(ids) or frozenset({item.node_id})
        self._has_moved = False
        self._before: dict[str, QPointF] = {}
        self._delta = QPointF()
        self._edge: Edge | None = None
        self._ghosts: list[GhostItem] = []

    def start(self, pointer: Pointer) -> None:
        self._origin = pointer
        self._was_selected = self._pressed <= set(self.scene.selected_ids())
        self._select_pressed(pointer)
        self._guides = self.mark(GuideItem(self.scene.look))

    def _select_pressed(self, pointer: Pointer) -> None:
        selected = set(self.scene.selected_ids())
        if pointer.has(_TOGGLING | _ADDING):
            self.scene.select(selected | self._pressed, self.scene.selected_edges())
        elif not self._was_selected:
            self.scene.select(self._pressed)

    def _begin(self) -> None:
        """The press has become a drag: of the pressed card alone where Ctrl had added it."""
        self._has_moved = True
        if self._origin.has(_TOGGLING) and not self._was_selected:
            self.scene.select(self._pressed)
        self._before = {
            key: QPointF(self.scene.nodes[key].pos()) for key in self.scene.selected_ids()
        }
        self._set_level(NodeItem.LEVEL + 0.5)

    def _set_level(self, level: float) -> None:
        """What is dragged lies above the other cards meanwhile."""
        for key in self._before.keys() & self.scene.nodes.keys():
            self.scene.nodes[key].setZValue(level)

    def move(self, pointer: Pointer) -> None:
        if not self._has_moved:
            traveled = distance(pointer.view, self._origin.view)
            if traveled < QApplication.startDragDistance():
                return
            self._begin()
        self._guides.lines = []
        delta, is_copy = pointer.scene - self._origin.scene, pointer.has(_COPYING)
        self._mark_edge(None if pointer.has(_COPYING | _ADDING) else self._edge_at(delta, pointer))
        if self._edge is None and not pointer.has(_ADDING):
            delta = self._snapped(delta)
        self._delta = delta
        self._show_ghosts(is_copy=is_copy)
        for key, before in self._before.items():
            self.scene.nodes[key].setPos(before if is_copy else before + delta)
        self.scene.reroute_near(self._before)
        self._show_words(pointer, is_copy=is_copy)

    def _edge_at(self, delta: QPointF, pointer: Pointer) -> Edge | None:
        """The connection that the card would be put into: under its middle, or the pointer."""
        key = self._item.node_id
        if len(self._before) != 1:
            return None
        middle = self._before[key] + delta + QPointF(NODE_WIDTH / 2, self._item.height / 2)
        found = edge_to_split(self.scene, middle, key)
        found = found or edge_to_split(self.scene, pointer.scene, key)
        return found if found is not None and self.document.can_move_onto(key, found) else None

    def _mark_edge(self, edge: Edge | None) -> None:
        self._edge = edge
        for each, item in self.scene.edges.items():
            item.is_hot = each == edge

    def _show_ghosts(self, *, is_copy: bool) -> None:
        """Shows where the copies will be."""
        if is_copy and not self._ghosts:
            items = [self.scene.nodes[key] for key in self._before]
            look = self.scene.look
            self._ghosts = [self.mark(GhostItem(i.facts.title, i.height, look)) for i in items]
        for ghost, before in zip(self._ghosts, self._before.values(), strict=False):
            ghost.setVisible(is_copy)
            place = before + self._delta
            ghost.place_at(place.x(), place.y())

    def _show_words(self, pointer: Pointer, *, is_copy: bool) -> None:
        if is_copy:
            self.view.show_hint(f"Duplicate {self._what()}", pointer.view)
        elif self._edge is not None:
            source, target = self.scene.name(self._edge.source), self.scene.name(self._edge.target)
            self.view.show_hint(f"Insert between {source} and {target}", pointer.view)
        else:
            self.view.hide_hint()

    def _what(self) -> str:
        if name := self.document.selected_group(self._before):
            return name
        count = len(self.scene.shown.layers_of(self._before))
        return self._item.facts.name if len(self._before) == 1 else f"{count} layers"

    def _snapped(self, delta: QPointF) -> QPointF:
        """The nearest move that lines the pressed card up with one that does not move."""
        wanted = self._before[self._item.node_id] + delta
        still = [item for key, item in self.scene.nodes.items() if key not in self._before]
        lines: list[QLineF] = []
        x = _nearest(wanted.x(), [item.pos().x() for item in still])
        levels = [item.pos().y() for item in still]
        levels += [item.box.bottom + GAP for item in still if abs(item.pos().x() - wanted.x()) < 2]
        y = _nearest(wanted.y(), levels)
        if x is not None:
            tops = [wanted.y(), *(item.pos().y() for item in still if item.pos().x() == x)]
            middle = x + NODE_WIDTH / 2
            lines.append(QLineF(middle, min(tops), middle, max(tops) + self._item.height))
        row = [item.pos().x() for item in still if item.pos().y() == y]
        if y is not None and row:
            sides = [*row, wanted.x()]
            level = y + self._item.height / 2
            lines.append(QLineF(min(sides), level, max(sides) + NODE_WIDTH, level))
        self._guides.lines = lines
        snapped = QPointF(wanted.x() if x is None else x, wanted.y() if y is None else y)
        return snapped - self._before[self._item.node_id]

    def end(self, pointer: Pointer) -> None:
        if not self._has_moved:
            self._end_click(pointer)
        elif pointer.has(_COPYING):
            self._end_copy()
        elif self._edge is not None:
            self._end_on_edge(self._edge)
        else:
            self._end_move(is_exact=pointer.has(_ADDING))

    def _end_copy(self) -> None:
        places = [before + self._delta for before in self._before.values()]
        corner = min(p.x() for p in places), min(p.y() for p in places)
        self._put_back()
        ids = list(self._before)
        self.scene.select(self.document.duplicate(ids, (round(corner[0]), round(corner[1]))))

    def _end_on_edge(self, edge: Edge) -> None:
        self._put_back()
        place = on_edge(self.scene, edge, self._item.height)
        self.document.move_onto(self._item.node_id, edge, place.position)
        self.scene.reroute()
        self.view.reveal([self._item.node_id])

    def _end_move(self, *, is_exact: bool) -> None:
        """Cards are dropped where they are, or beside what they would cover."""
        block = [self.scene.nodes[key].box for key in self._before]
        others = cards(self.scene, set(self._before))
        dx, dy = (0.0, 0.0) if is_exact else aside([box.card for box in block], others)
        moved = {key: self.scene.nodes[key].pos() + QPointF(dx, dy) for key in self._before}
        positions = {key: (round(pos.x()), round(pos.y())) for key, pos in moved.items()}
        self._put_back()
        self.document.move(positions, f"Move {self._what()}")
        self.scene.reroute()

    def _end_click(self, pointer: Pointer) -> None:
        """A press without a drag: only now is it known which one was meant."""
        selected = set(self.scene.selected_ids())
        if pointer.has(_TOGGLING) and self._was_selected:
            self.scene.select(selected - self._pressed, self.scene.selected_edges())
        elif not pointer.has(_TOGGLING | _ADDING):
            self.scene.select(self._pressed)

    def cancel(self, reason: str) -> None:  # noqa: ARG002 - every reason is handled alike
        if self._has_moved:
            self._put_back()
            self.scene.reroute()

    def _put_back(self) -> None:
        for key, before in self._before.items():
            if key in self.scene.nodes:
                self.scene.nodes[key].setPos(before)

    def clear(self) -> None:
        super().clear()
        self._set_level(NodeItem.LEVEL)
        for item in self.scene.edges.values():
            item.is_hot = False


def _nearest(value: float, candidates: list[float]) -> float | None:
    """The candidate within snapping distance that is nearest."""
    best = min(candidates, key=lambda x: abs(x - value), default=None)
    return best if best is not None and abs(best - value) <= SNAP else None


# rubber band ---------------------------------------------------------------------------------
# Dragging over the empty canvas selects what the rectangle touches.

_ADDING_RUBBER_BAND = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier


class RubberBand(Gesture):
    """Selects as it grows; Shift or Ctrl adds to what was selected before."""

    def start(self, pointer: Pointer) -> None:
        self._origin = pointer.scene
        self._before = self.scene.selected_ids()
        self._kept = set(self._before) if pointer.modifiers & _ADDING_RUBBER_BAND else set()
        self._item = self.mark(RubberBandItem(self.scene.look))
        self.scene.select(self._kept)

    def move(self, pointer: Pointer) -> None:
        rect = QRectF(self._origin, pointer.scene).normalized()
        self._item.rect = rect
        nodes = self.scene.nodes.items()
        wanted = self._kept | {key for key, item in nodes if item.card_rect().intersects(rect)}
        if wanted != set(self.scene.selected_ids()):
            self.scene.select(wanted)

    def cancel(self, reason: str) -> None:  # noqa: ARG002 - every reason is handled alike
        self.scene.select(self._before)


# choose --------------------------------------------------------------------------------------
# Choice of the gesture that a press of the left button begins, by what lies under the pointer.
#
# A click means what is seen there, a card or a line; a drag means what can be taken from
# there, a port before a card. Which of the two it is shows only when the pointer moves.

_INSIDE_CARD = 5.0
"""A port is grabbed from outside its card; inside, the card is meant."""


def choose_gesture(view: ZoomView, pointer: Pointer) -> Gesture:
    """The gesture for what is topmost at the pointer."""
    scene, point = view.graph_scene, pointer.scene
    if scene.card_at(point) is not None:
        return PressFix(view)
    if scene.group_button_at(point):
        return PressGroupButton(view)
    item, line = scene.node_at(point), view.line_at(point)
    seen = line if item is None else None
    drag = _from_port(view, point, seen)
    if drag is not None:
        return drag
    if item is not None:
        return PressInput(view, item) if scene.is_data_at(point) else MoveNodes(view, item)
    frame = scene.frame_at(point)
    if frame is not None:
        ids = scene.shown.full.groups[frame.name]
        return MoveNodes(view, scene.nodes[ids[0]], ids)
    return RubberBand(view) if line is None else PressEdge(view, line)


def _from_port(view: ZoomView, point: QPointF, seen: EdgeItem | None) -> DragConnection | None:
    """What a press at a port begins; None away from all ports. `seen` is the line there."""
    scene = view.graph_scene
    item = scene.output_at(point, PORT_REACH)
    if item is not None and point.y() >= item.output_point().y() - _INSIDE_CARD:
        return DragConnection(view, source=item.node_id, seen=seen)
    line = scene.edge_end_at(point, PORT_REACH)
    if line is not None and point.y() <= line.end_point().y() + _INSIDE_CARD:
        return DragConnection(view, source=line.edge.source, edge=line.edge, seen=seen)
    item = scene.input_at(point, PORT_REACH)
    is_above = item is not None and point.y() <= item.input_point().y() + _INSIDE_CARD
    if item is not None and is_above and item.facts.is_open_above:
        return DragConnection(view, target=item.node_id, seen=seen)
    return None


class PressEdge(Gesture):
    """A click on a line selects it; Shift or Ctrl keeps the rest."""

    scrolls_at_edge = False

    def __init__(self, view: ZoomView, item: EdgeItem) -> None:
        super().__init__(view)
        self._item = item

    def start(self, pointer: Pointer) -> None:
        click_edge(self.scene, self._item.edge, pointer)


class PressInput(MoveNodes):
    """A click on the name of the data set leads to it; a drag moves the card."""

    def start(self, pointer: Pointer) -> None:
        self._at_press = pointer.view
        super().start(pointer)

    def end(self, pointer: Pointer) -> None:
        super().end(pointer)
        is_click = distance(pointer.view, self._at_press) < QApplication.startDragDistance()
        if is_click and self.scene.is_data_at(pointer.scene):
            self.view.data_asked.emit()


class PressGroupButton(Gesture):
    """A click on the button of a group folds or opens it, when the pointer is still on it."""

    cursor = Qt.CursorShape.PointingHandCursor
    scrolls_at_edge = False

    def start(self, pointer: Pointer) -> None:
        self._name = self.scene.group_button_at(pointer.scene)

    def end(self, pointer: Pointer) -> None:
        if self._name and self.scene.group_button_at(pointer.scene) == self._name:
            self.view.group_toggled.emit(self._name)


class PressFix(Gesture):
    """A click on a fix button, or on the close button of the card; it counts when the pointer is
    still on it at the end.
    """

    cursor = Qt.CursorShape.PointingHandCursor
    scrolls_at_edge = False
    hides_card = False

    def start(self, pointer: Pointer) -> None:
        self._fix = self._fix_at(pointer)
        self._is_closing = self._is_close_at(pointer)

    def _is_close_at(self, pointer: Pointer) -> bool:
        return self.scene.card is not None and self.scene.card.is_close_at(pointer.scene)

    def end(self, pointer: Pointer) -> None:
        if self._is_closing and self._is_close_at(pointer):
            self.scene.close_card()
        elif self._fix is not None and self._fix_at(pointer) == self._fix:
            self.document.apply_fix(self._fix)

    def _fix_at(self, pointer: Pointer) -> Fix | None:
        card = self.scene.card
        return None if card is None else card.fix_at(pointer.scene)


# drop layer ----------------------------------------------------------------------------------
# A layer or a pretrained network dragged from the palette: its ghost shows what will happen on
# drop.


def drop_gesture(view: ZoomView, mime: QMimeData) -> Gesture | None:
    """The gesture of what is dragged onto the canvas; None for anything else than these."""
    layer = view.graph_scene.layers.get(_text(mime, LAYER_MIME))
    if layer is not None:
        return DropLayer(view, layer)
    backbone = all_backbones().get(_text(mime, BACKBONE_MIME))
    return None if backbone is None else DropBackbone(view, backbone)


def _text(mime: QMimeData, kind: str) -> str:
    return bytes(mime.data(kind).data()).decode("utf-8", "replace")


class DropCard(Gesture):
    """Adds something where its ghost is."""

    def __init__(self, view: ZoomView, title: str, height: float) -> None:
        super().__init__(view)
        self._title, self._height = title, height

    def place_at(self, point: QPointF) -> Placement:
        """Placement of the card when it is dropped at a scene point."""
        raise NotImplementedError

    def add(self, place: Placement) -> str:
        """Adds it there; the id of its card."""
        raise NotImplementedError

    def start(self, pointer: Pointer) -> None:
        self._ghost = self.mark(GhostItem(self._title, self._height, self.scene.look))
        self.move(pointer)

    def move(self, pointer: Pointer) -> None:
        place = self.place_at(pointer.scene)
        self._mark_edge(place.edge)
        if place.edge is not None:
            self._ghost.place_on_line(self.scene.edges[place.edge].middle_point())
        else:
            self._ghost.place_at(*place.position)
        source = self.scene.nodes[place.after] if place.after is not None else None
        self._ghost.link_from(source.output_point() if source else None)
        self.view.show_hint(self._words(place), pointer.view)

    def _mark_edge(self, edge: Edge | None) -> None:
        for each, item in self.scene.edges.items():
            item.is_hot = each == edge

    def _words(self, place: Placement) -> str:
        name = self.scene.name
        if place.edge is not None:
            return f"Insert between {name(place.edge.source)} and {name(place.edge.target)}"
        if place.after is not None:
            return f"Add after {name(place.after)}"
        return "Add here, not connected"

    def end(self, pointer: Pointer) -> None:
        added = self.add(self.place_at(pointer.scene))
        self.scene.select([added])
        self.view.reveal([added])

    def clear(self) -> None:
        self._mark_edge(None)
        super().clear()


class DropLayer(DropCard):
    """Adds a layer of a type."""

    def __init__(self, view: ZoomView, spec: LayerSpec) -> None:
        super().__init__(view, spec.title, card_height(spec, view.graph_scene))
        self._spec = spec

    def place_at(self, point: QPointF) -> Placement:
        return place_at(self.scene, self._spec, point)

    def add(self, place: Placement) -> str:
        key, position = self._spec.key, place.position
        return self.document.add_node(key, position, after=place.after, edge=place.edge)


class DropBackbone(DropCard):
    """Adds a pretrained network, folded."""

    def __init__(self, view: ZoomView, spec: BackboneSpec) -> None:
        super().__init__(view, spec.title, GROUP_HEIGHT)
        self._spec = spec

    def place_at(self, point: QPointF) -> Placement:
        return fed_at(self.scene, point, GROUP_HEIGHT)

    def add(self, place: Placement) -> str:
        at = place.position
        return self.document.insert_backbone(self._spec, at, after=place.after, edge=place.edge)
