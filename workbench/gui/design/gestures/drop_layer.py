"""A layer dragged from the palette: its ghost shows what will happen on drop."""

from __future__ import annotations

from workbench.core.network.graph import Edge
from workbench.gui.design.canvas.gesture import Gesture
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView
from workbench.gui.design.gestures.marks import GhostItem
from workbench.gui.design.gestures.placement import Placement, card_height, place_at


class DropLayer(Gesture):
    """Adds a layer of the type with this key where the ghost is."""

    def __init__(self, view: ZoomView, key: str) -> None:
        super().__init__(view)
        self._spec = self.scene.layers[key]

    def start(self, pointer: Pointer) -> None:
        height = card_height(self._spec, self.scene)
        self._ghost = self.mark(GhostItem(self._spec.title, height, self.scene.look))
        self.move(pointer)

    def move(self, pointer: Pointer) -> None:
        place = place_at(self.scene, self._spec, pointer.scene)
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
        place = place_at(self.scene, self._spec, pointer.scene)
        added = self.document.add_node(
            self._spec.key, place.position, after=place.after, edge=place.edge
        )
        self.scene.select([added])
        self.view.reveal([added])

    def clear(self) -> None:
        self._mark_edge(None)
        super().clear()
