"""Edits of when the project's layers learn, and with which weights they start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from workbench.backbones import Inserted, insert_backbone, lost_weights
from workbench.core.coach.advice import Change, with_change
from workbench.core.network.blocks import arrange_blocks
from workbench.core.network.folding import card_id
from workbench.core.network.graph import Edge, Graph, Training
from workbench.core.network.layout import Position, node_sizes
from workbench.core.network.learning import (
    learning_from,
    with_random_weights,
    with_training,
    with_weights,
)
from workbench.core.network.roles import input_node, input_nodes, specs_of
from workbench.core.specs import BackboneSpec, Role
from workbench.document import graph_edits
from workbench.document.grouped_project import GroupedProject
from workbench.document.view_state import with_places

_VERBS: Mapping[Training, str] = {
    "always": "Train",
    "fine_tuning": "Fine-tune",
    "never": "Freeze",
}


class LearningProject(GroupedProject):
    """A project whose layers can be frozen, fine-tuned or trained.

    Its edits take ids of cards: that of a folded group stands for its layers.
    """

    def insert_backbone(
        self,
        spec: BackboneSpec,
        position: Position | None = None,
        *,
        after: str | None = None,
        edge: Edge | None = None,
    ) -> str:
        """Adds a pretrained network as a folded group and returns the id of its card.

        A network without an Input gets one, of the size that is usual for the pretrained network.

        Args:
            spec: The pretrained network.
            position: Top-left corner of its card; None finds a place by the connections.
            after: Connect from this card.
            edge: Put it in the middle of this edge.

        Raises:
            GraphError: what comes in there is no image.
        """
        graph, source = self.graph, "" if after is None else self.shown.exit(after)
        cut = () if edge is None else self.shown.edges_of(edge)
        if cut:
            source = cut[0].source
        elif not input_nodes(graph, self.layers):
            graph, source = self._with_input(spec)
        shape = self.analysis.shapes.get(source, spec.input_shape)
        graph = graph_edits.without_edges(graph, cut)
        inserted = insert_backbone(graph, spec, source, shape)
        graph = inserted.graph
        for each in cut:
            graph = graph.with_edge(Edge(inserted.last, each.target, each.port))
        self._push_backbone(spec, replace(inserted, graph=graph), position)
        return card_id(inserted.group)

    def place_for_images(self) -> str | None:
        """Id of the card behind which images are as they come from Input: that of Input, or of the
        last layer of its augmentation; None without one Input.
        """
        start = input_node(self.graph, self.layers)
        at = None if start is None else start.id
        while at is not None and len(targets := self.graph.targets(at)) == 1:
            spec = self.layers.get(self.graph.nodes[targets[0]].kind)
            if spec is None or spec.place != "pipeline":
                break
            at = targets[0]
        return None if at is None else self.shown.shown_id(at)

    def _with_input(self, spec: BackboneSpec) -> tuple[Graph, str]:
        kind = specs_of(self.layers, Role.INPUT)[0]
        node = graph_edits.new_node(self.graph, kind.key, self.layers, spec.input_shape)
        return self.graph.with_node(node), node.id

    def apply_change(self, change: Change, text: str) -> None:
        """Changes values of the recipe and of layers in one step that `text` names.

        Raises:
            ParamError: a value does not fit, or a layer is of another type by now.
        """
        nodes = self.graph.nodes
        for key in change.layers.keys() & nodes.keys():
            graph_edits.checked_params(nodes[key], change.layers[key], self.layers)
        self._push(text, with_change(self._state, change))

    def _push_backbone(
        self, spec: BackboneSpec, inserted: Inserted, position: Position | None
    ) -> None:
        graph, sizes = inserted.graph, node_sizes(inserted.graph, self.layers)
        part = graph.without_nodes(graph.nodes.keys() - set(inserted.nodes))
        places = {**self.positions, **arrange_blocks(part, sizes, ())}
        state = replace(self._state, graph=graph)
        folded = self.folded | {inserted.group}
        for key in (*(key for key in graph.nodes if key not in places), card_id(inserted.group)):
            wanted = position if key == card_id(inserted.group) else None
            places = self._placed(graph, places, sizes, key, wanted=wanted, folded=folded)
        state = replace(state, view=replace(state.view, folded=folded))
        self._push(f"Insert {spec.title}", with_places(state, places))

    def set_training(self, shown_ids: Iterable[str], training: Training) -> None:
        """Makes these layers learn always, in fine-tuning only, or never."""
        ids = list(shown_ids)
        layers = self._layers_of(ids)
        text = f"{_VERBS[training]} {self._what(ids)}"
        self._push_graph(text, with_training(self.graph, layers, training))

    def train_from(self, node_id: str, training: Training) -> None:
        """Makes a layer and those behind it in its group learn then, the group's others never."""
        node = self._node(node_id)
        graph = learning_from(self.graph, node_id, training, self.layers)
        self._push_graph(f"{_VERBS[training]} from {node.name} on", graph)

    def use_random_weights(self, shown_ids: Iterable[str]) -> None:
        """Makes these layers start with random weights instead of pretrained ones."""
        ids = list(shown_ids)
        graph = with_random_weights(self.graph, self._layers_of(ids))
        self._push_graph(f"Use random weights in {self._what(ids)}", graph)

    def lost_weights(self, shown_ids: Iterable[str]) -> Mapping[str, str]:
        """The pretrained weights that some layers could start with again; see
        `backbones.lost_weights`.
        """
        return lost_weights(self.graph, self._layers_of(shown_ids))

    def restore_weights(self, shown_ids: Iterable[str]) -> None:
        """Makes these layers start with their pretrained weights again."""
        ids = list(shown_ids)
        graph = with_weights(self.graph, self.lost_weights(ids))
        self._push_graph(f"Restore weights of {self._what(ids)}", graph)

    def _what(self, shown_ids: list[str]) -> str:
        if name := self.selected_group(shown_ids):
            return name
        layers = self._layers_of(shown_ids)
        return self._name(layers[0]) if len(layers) == 1 else f"{len(layers)} layers"
