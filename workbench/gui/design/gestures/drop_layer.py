"""A layer dragged from the palette: its ghost shows what will happen on drop."""

from __future__ import annotations

from workbench.core.network.graph import Edge
from workbench.gui.design.canvas.gesture import Gesture
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView
from workbench.gui.design.gestures.marks import GhostItem
from workbench.gui.design.gestures.placement import Placement, card_height, place_at


class DropLayer(Gesture):
    """Adds a layer of the type with this key where the ghost stands."""

    def __init__(self, view: ZoomView, key: str) -> None:
        super().__init__(view)
        self._spec = self.scene.layers[key]
        self._hot: Edge | None = None

    def start(self, pointer: Pointer) -> None:
        height = card_height(self._spec, self.scene)
        self._ghost = GhostItem(self._spec.title, height, self.scene.look)
        self.scene.addItem(self._ghost)
        self.move(pointer)

    def move(self, pointer: Pointer) -> None:
        self._place = place_at(self.scene, self._spec, pointer.scene)
        self._mark_edge(self._place.edge)
        if self._place.edge is not None:
            self._ghost.stand_on_line(self.scene.edges[self._place.edge].middle_point())
        else:
            self._ghost.stand_at(*self._place.position)
        after = self._place.after
        self._ghost.link_from(self.scene.nodes[after].output_point() if after else None)
        self.view.show_hint(self._words(self._place), pointer.view)

    def _mark_edge(self, edge: Edge | None) -> None:
        if self._hot is not None and self._hot in self.scene.edges:
            self.scene.edges[self._hot].is_hot = False
        self._hot = edge
        if edge is not None:
            self.scene.edges[edge].is_hot = True

    def _words(self, place: Placement) -> str:
        name = self.scene.name
        if place.edge is not None:
            return f"Insert between {name(place.edge.source)} and {name(place.edge.target)}"
        if place.after is not None:
            return f"Add after {name(place.after)}"
        return "Add here, not connected"

    def end(self, pointer: Pointer) -> None:
        self.move(pointer)
        self._clear()
        place = self._place
        added = self.document.add_node(
            self._spec.key, place.position, after=place.after, edge=place.edge
        )
        self.scene.select([added])

    def cancel(self, reason: str) -> None:  # noqa: ARG002 - every reason is handled alike
        self._clear()

    def _clear(self) -> None:
        self._mark_edge(None)
        self.scene.removeItem(self._ghost)
        self.view.hide_hint()
