"""Adding layers without dragging them: by the palette, by key, or by the search box."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QPoint, QPointF

from workbench.backbones import all_backbones
from workbench.core.network.blocks import GROUP_HEIGHT
from workbench.core.network.graph import Edge
from workbench.core.network.layout import NODE_WIDTH
from workbench.core.specs import LayerSpec
from workbench.gui.design.canvas.node_item import NodeItem
from workbench.gui.design.canvas.view import GraphView
from workbench.gui.design.gestures import placement
from workbench.gui.design.gestures.placement import Placement, card_height, fed_at, place_at
from workbench.gui.design.search_add import SearchAdd

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
        place = partial(placement.on_edge, self._scene, edge)
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
        on_edge = partial(placement.on_edge, self._scene)
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
        return self._inserted(partial(placement.behind, self._scene, node_id))

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
        return selected[-1] if selected else placement.behind_last(self._scene)

    def _place_by_selection(self, spec: LayerSpec) -> Placement:
        after = self._source()
        if after is None or spec.max_inputs == 0:
            return place_at(self._scene, spec, self._view.visible_rect().center())
        return placement.behind(self._scene, after, card_height(spec, self._scene))

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
