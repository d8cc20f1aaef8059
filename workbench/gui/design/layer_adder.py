"""Adding layers without dragging them: by the palette, by key, or by the search box."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QWidget

from workbench.backbones import all_backbones
from workbench.core.network.folding import GROUP_HEIGHT
from workbench.core.network.graph import Edge
from workbench.core.network.layout import NODE_WIDTH
from workbench.core.registry import Registry
from workbench.core.specs import BackboneSpec, LayerSpec
from workbench.gui.common.layer_search import (
    BACKBONE_CATEGORY,
    arguments_note,
    backbone_facts,
    best_first,
    find_backbones,
    find_layers,
)
from workbench.gui.design.canvas.items import NodeItem
from workbench.gui.design.canvas.view import GraphView
from workbench.gui.design.gestures import marks
from workbench.gui.design.gestures.marks import Placement, card_height, fed_at, place_at
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import column
from workbench.gui.kit.theme import Theme

# search add ----------------------------------------------------------------------------------
# A small search box on the canvas: type, choose with the arrows, Enter adds the layer.

_WIDTH, _HEIGHT = 300, 320
_MARGIN = 8
_CHOSEN = Qt.ItemDataRole.UserRole
"""(key, whether it is a layer type) of an item."""
_KEYS = Qt.Key
_STEPS = {_KEYS.Key_Down: 1, _KEYS.Key_Up: -1, _KEYS.Key_PageDown: 8, _KEYS.Key_PageUp: -8}


class SearchAdd(QFrame):
    """The box: it belongs to the canvas and closes when the keyboard goes elsewhere.

    Signals:
        chosen(str): Key of the layer type.
        backbone_chosen(str): Key of the pretrained network.
        closed(): Nothing (more) is asked.
    """

    chosen = Signal(str)
    backbone_chosen = Signal(str)
    closed = Signal()

    def __init__(self, layers: Registry[LayerSpec], theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._canvas = parent
        self._layers = layers
        self._theme = theme
        self._needs_input, self._with_backbones = False, True
        self.setObjectName("searchAdd")
        self.setAccessibleName("Add a layer")
        self._field = QLineEdit()
        self._field.setPlaceholderText("Search layers, press Enter to add")
        self._field.setAccessibleName("Search layers")
        self._field.setClearButtonEnabled(True)
        self._list = QListWidget()
        self._list.setAccessibleName("Layers found")
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setIconSize(QSize(18, 18))
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        column(self._field, self._list, parent=self, margins=_MARGIN, spacing=_MARGIN)
        self._field.textChanged.connect(self._fill)
        self._field.installEventFilter(self)
        self._list.itemClicked.connect(self._choose)
        self.hide()

    def open_at(
        self, place: QPoint, *, needs_input: bool = False, with_backbones: bool = True
    ) -> None:
        """Opens near a point of the canvas, inside it.

        Args:
            place: In pixels of the canvas.
            needs_input: Offers only layers that something can lead into.
            with_backbones: Offers pretrained networks too.
        """
        self._needs_input, self._with_backbones = needs_input, with_backbones
        room = self._canvas.rect()
        height = min(_HEIGHT, max(160, room.height() - 2 * _MARGIN))
        self.setFixedSize(_WIDTH, height)
        left = max(_MARGIN, min(place.x(), room.width() - _WIDTH - _MARGIN))
        top = max(_MARGIN, min(place.y(), room.height() - height - _MARGIN))
        self.move(left, top)
        self._field.clear()
        self._fill("")
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_box(self) -> None:
        """Closes without adding."""
        if self.isVisible():
            self.hide()
            self.closed.emit()

    def _fill(self, text: str) -> None:
        self._list.clear()
        layers = find_layers(self._layers, text, needs_input=self._needs_input)
        backbones = find_backbones(all_backbones(), text) if self._with_backbones else []
        for spec in best_first(layers, backbones, text):
            self._list.addItem(self._item(spec))
        if not self._list.count():
            exists = self._needs_input and find_layers(self._layers, text)
            words = "This layer cannot have an input" if exists else ""
            item = QListWidgetItem(words or "No layer has that name")
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self._list.addItem(item)
        elif note := arguments_note(text):
            item = QListWidgetItem(note)
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self._list.addItem(item)
        self._list.setCurrentRow(0)

    def _item(self, spec: LayerSpec | BackboneSpec) -> QListWidgetItem:
        is_layer = isinstance(spec, LayerSpec)
        category = spec.category if isinstance(spec, LayerSpec) else BACKBONE_CATEGORY
        tip = spec.summary if isinstance(spec, LayerSpec) else backbone_facts(spec)
        item = QListWidgetItem(self._theme.category_icon(category), spec.title)
        item.setData(_CHOSEN, (spec.key, is_layer))
        item.setToolTip(plain_tip(tip))
        return item

    def _choose(self, item: QListWidgetItem | None) -> None:
        chosen = item.data(_CHOSEN) if item is not None else None
        if chosen:
            key, is_layer = chosen
            self.hide()
            (self.chosen if is_layer else self.backbone_chosen).emit(key)
            self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.close_box()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._on_key(event)
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        """The field keeps the keyboard; these keys are for the list and the box."""
        key = Qt.Key(event.key())
        if key in _STEPS:
            row = self._list.currentRow() + _STEPS[key]
            self._list.setCurrentRow(max(0, min(self._list.count() - 1, row)))
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._choose(self._list.currentItem())
        elif key in {Qt.Key.Key_Escape, Qt.Key.Key_Tab}:
            self.close_box()
        else:
            return False
        return True


# layer adder ---------------------------------------------------------------------------------

_IN_COLUMN = 60.0
"""How far beside its source, in scene pixels, a dropped connection still means "below"."""
_BOX_OFFSET = QPoint(12, 12)

Add = Callable[[LayerSpec], object]
AddBackbone = Callable[[str], object]
Place = Callable[[float], Placement]
"""Height of a card -> its placement."""
Edit = Callable[[Callable[[], str]], str | None]


class LayerAdder(QObject):
    """Finds the place of a new layer, asks for its kind where needed, and adds it.

    `edit` runs a change of the document and returns its result; None when it was rejected.
    """

    def __init__(self, view: GraphView, search: SearchAdd, edit: Edit) -> None:
        super().__init__(view)
        self._view = view
        self._scene = view.graph_scene
        self._search = search
        self._edit = edit
        self._chosen: Add = self._add_by_selection
        self._chosen_backbone: AddBackbone | None = None
        search.chosen.connect(self._on_chosen)
        search.backbone_chosen.connect(self._on_backbone_chosen)
        view.search_asked.connect(self.search_at)

    def add(self, key: str) -> str | None:
        """Adds a layer after the selected node, else after the last open end; its id."""
        return self._add_by_selection(self._scene.layers[key])

    def add_backbone(self, key: str) -> str | None:
        """Adds a pretrained network behind the images, before what they feed now; its card's id."""
        spec, document = all_backbones()[key], self._scene.document
        at = document.place_for_images()
        leaving = () if at is None else self._scene.graph.edges_from(at)
        edge = leaving[0] if len(leaving) == 1 else None
        after = at if edge is None else None

        def insert() -> str:
            return document.insert_backbone(spec, after=after, edge=edge)

        return self._show(self._edit(insert))

    def search_by_selection(self) -> None:
        """Asks for a layer to come after the selected node, else after the last open end."""
        after = self._source()
        point = self._view.visible_rect().center()
        if after is not None:
            point = self._reveal(after).output_point()
        selected = self._scene.selected_ids()
        add = self._add_by_selection
        network = self._behind(selected[-1]) if selected else self.add_backbone
        self._open(point, add, network, needs_input=self._has_source())

    def search_at(self, point: QPointF, after: str) -> None:
        """Asks for a layer to place at a scene point, fed by `after` where it is not ""."""
        if after:
            at_end = partial(self._at_end_of, after=after, point=point)
            self._open_fed(point, at_end)
        else:
            at = partial(place_at, self._scene, point=point)
            network = self._inserted(partial(fed_at, self._scene, point))
            self._open(point, lambda spec: self._add(spec, at(spec)), network)

    def search_on(self, edge: Edge) -> None:
        """Asks for a layer to put into an edge."""
        place = partial(marks.on_edge, self._scene, edge)
        self._open_fed(self._scene.edges[edge].middle_point(), place)

    def search_after(self, node_id: str) -> None:
        """Asks for a layer to come between a node and all that it feeds."""
        insert = self._scene.document.insert_after
        point = self._reveal(node_id).output_point()
        add = partial(self._do, lambda spec: insert(spec.key, node_id))
        network = self._behind(node_id) if len(self._scene.graph.edges_from(node_id)) < 2 else None
        self._open(point, add, network, needs_input=True)

    def search_before(self, node_id: str) -> None:
        """Asks for a layer to come right before a node."""
        insert = self._scene.document.insert_before
        entering = self._scene.graph.edges_into(node_id)
        add = partial(self._do, lambda spec: insert(spec.key, node_id))
        on_edge = partial(marks.on_edge, self._scene)
        network = self._inserted(partial(on_edge, entering[0])) if entering else None
        point = self._reveal(node_id).input_point()
        self._open(point, add, network, needs_input=bool(entering))

    def search_replacement(self, node_id: str) -> None:
        """Asks for the layer type that a node is to be from now on."""
        has_input = bool(self._scene.graph.edges_into(node_id))

        def replace(spec: LayerSpec) -> str:
            self._scene.document.change_kind(node_id, spec.key)
            return node_id

        point = self._reveal(node_id).output_point()
        self._open(point, partial(self._do, replace), needs_input=has_input)

    def _reveal(self, node_id: str) -> NodeItem:
        self._view.reveal([node_id])
        return self._scene.nodes[node_id]

    def _open_fed(self, point: QPointF, place: Place) -> None:
        """Asks for a layer or a pretrained network to put where something leads into it."""

        def add(spec: LayerSpec) -> None:
            self._add(spec, place(card_height(spec, self._scene)))

        self._open(point, add, self._inserted(place), needs_input=True)

    def _open(
        self,
        point: QPointF,
        add: Add,
        add_backbone: AddBackbone | None = None,
        *,
        needs_input: bool = False,
    ) -> None:
        self._chosen, self._chosen_backbone = add, add_backbone
        corner = self._view.mapFromScene(point) + _BOX_OFFSET
        has_backbones = add_backbone is not None
        self._search.open_at(corner, needs_input=needs_input, with_backbones=has_backbones)

    def _on_backbone_chosen(self, key: str) -> None:
        if self._chosen_backbone is not None:
            self._chosen_backbone(key)

    def _behind(self, node_id: str) -> AddBackbone:
        return self._inserted(partial(marks.behind, self._scene, node_id))

    def _inserted(self, place: Place) -> AddBackbone:
        """Inserts a pretrained network as a drop at that place would."""

        def insert(key: str) -> str | None:
            spec, at, document = all_backbones()[key], place(GROUP_HEIGHT), self._scene.document
            edit = partial(document.insert_backbone, spec, at.position)
            return self._show(self._edit(lambda: edit(after=at.after, edge=at.edge)))

        return insert

    def _on_chosen(self, key: str) -> None:
        self._chosen(self._scene.layers[key])

    def _has_source(self) -> bool:
        """True when images come in already: what starts a network is not offered again."""
        layers = self._scene.layers
        kinds = {node.kind for node in self._scene.document.graph.nodes.values()}
        return any(layers[kind].max_inputs == 0 for kind in kinds if kind in layers)

    def _source(self) -> str | None:
        selected = self._scene.selected_ids()
        return selected[-1] if selected else marks.behind_last(self._scene)

    def _place_by_selection(self, spec: LayerSpec) -> Placement:
        after = self._source()
        if after is None or spec.max_inputs == 0:
            return place_at(self._scene, spec, self._view.visible_rect().center())
        return marks.behind(self._scene, after, card_height(spec, self._scene))

    def _at_end_of(self, height: float, after: str, point: QPointF) -> Placement:
        """Placement where a dragged connection was dropped, always with a new edge."""
        source = self._scene.nodes[after]
        is_below = abs(point.x() - source.output_point().x()) < _IN_COLUMN
        x = source.pos().x() if is_below else point.x() - NODE_WIDTH / 2
        y = point.y() - height / 4
        return Placement((round(x), round(y)), after=after)

    def _add_by_selection(self, spec: LayerSpec) -> str | None:
        return self._add(spec, self._place_by_selection(spec))

    def _add(self, spec: LayerSpec, place: Placement) -> str | None:
        add, at = self._scene.document.add_node, place.position
        return self._do(lambda spec: add(spec.key, at, after=place.after, edge=place.edge), spec)

    def _do(self, edit: Callable[[LayerSpec], str], spec: LayerSpec) -> str | None:
        """Makes an edit, then selects and shows its node."""
        return self._show(self._edit(lambda: edit(spec)))

    def _show(self, added: str | None) -> str | None:
        if added is not None:
            self._scene.select([added])
            self._view.reveal([added])
        return added
