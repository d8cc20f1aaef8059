"""When the layers of the project being edited learn, and with which weights they start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.core.network.graph import Training
from workbench.core.network.learning import learning_from, with_random_weights, with_training
from workbench.document.grouped_project import GroupedProject

_VERBS: Mapping[Training, str] = {
    "always": "Train",
    "fine_tuning": "Fine-tune",
    "never": "Freeze",
}


class LearningProject(GroupedProject):
    """A project whose layers can be frozen, fine-tuned or trained.

    Its edits take ids of cards: that of a folded group stands for its layers.
    """

    def set_training(self, shown_ids: Iterable[str], training: Training) -> None:
        """Some layers learn always, in fine-tuning only, or never."""
        ids = list(shown_ids)
        layers = self._layers_of(ids)
        text = f"{_VERBS[training]} {self._what(ids)}"
        self._push_graph(text, with_training(self.graph, layers, training))

    def train_from(self, node_id: str, training: Training) -> None:
        """A layer and those behind it in its group learn then, the others of the group never."""
        node = self._node(node_id)
        graph = learning_from(self.graph, node_id, training, self.layers)
        self._push_graph(f"{_VERBS[training]} from {node.name} on", graph)

    def use_random_weights(self, shown_ids: Iterable[str]) -> None:
        """Some layers start with random weights instead of pretrained ones."""
        ids = list(shown_ids)
        graph = with_random_weights(self.graph, self._layers_of(ids))
        self._push_graph(f"Use random weights in {self._what(ids)}", graph)

    def _what(self, shown_ids: list[str]) -> str:
        if name := self.selected_group(shown_ids):
            return name
        layers = self._layers_of(shown_ids)
        return self._name(layers[0]) if len(layers) == 1 else f"{len(layers)} layers"
