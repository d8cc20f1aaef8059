"""A layer or a pretrained network dragged from the palette: its ghost shows what will happen on
drop.
"""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPointF

from workbench.backbones import all_backbones
from workbench.core.network.blocks import GROUP_HEIGHT
from workbench.core.network.graph import Edge
from workbench.core.specs import BackboneSpec, LayerSpec
from workbench.gui.design.canvas.gesture import BACKBONE_MIME, LAYER_MIME, Gesture
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView
from workbench.gui.design.gestures.marks import GhostItem
from workbench.gui.design.gestures.placement import Placement, card_height, fed_at, place_at


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
