"""The augmentation layers of the project being edited, as one chain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from workbench.core.network.augmentation import (
    augmentation_nodes,
    end_of_augmentation,
    reordered,
)
from workbench.core.network.graph import Graph
from workbench.core.params import Params
from workbench.document import graph_edits, rewiring
from workbench.document.data_project import DataProject
from workbench.document.view_state import with_places
from workbench.errors import GraphError


class AugmentedProject(DataProject):
    """A project whose augmentation is edited layer by layer. Its edits take ids of layers."""

    @property
    def augmentation(self) -> tuple[str, ...]:
        """Ids of the augmentation layers, in order."""
        return augmentation_nodes(self.graph, self.layers)

    def add_augmentation(
        self, kind: str, params: Params | None = None, *, before: str | None = None
    ) -> str:
        """Adds an augmentation layer, at the end or before one of them, and returns its id.

        Raises:
            GraphError: unknown kind, or there is not exactly one Input.
            ParamError: a value outside its bounds.
        """
        graph, new = self._with_augmentation(self.graph, kind, params or {}, before)
        title = graph_edits.title_of(graph.nodes[new], self.layers)
        self._push_new_nodes(f"Add {title}", graph, {})
        return new

    def remove_augmentation(self, node_id: str) -> None:
        """Removes one of them; its neighbors are connected."""
        title = graph_edits.title_of(self._node(node_id), self.layers)
        self._push_graph(f"Remove {title}", _without(self.graph, [node_id]))

    def reorder_augmentation(self, node_ids: Sequence[str]) -> None:
        """Puts the augmentation layers in another order; their cards change places.

        Raises:
            GraphError: these are not all of them.
        """
        old = self.augmentation
        if sorted(old) != sorted(node_ids):
            raise GraphError("The augmentation layers have changed.", fix="Try again.")
        graph = reordered(self.graph, old, node_ids)
        places = {new: self.positions[key] for key, new in zip(old, node_ids, strict=True)}
        state = with_places(self._state, {**self.positions, **places})
        self._push("Reorder augmentation", replace(state, graph=graph))

    def replace_augmentation(self, chain: Iterable[tuple[str, Params]]) -> None:
        """Removes all augmentation layers and adds others, of a kind with values each.

        Raises:
            GraphError: unknown kind, or there is not exactly one Input.
            ParamError: a value outside its bounds.
        """
        graph = _without(self.graph, self.augmentation)
        for kind, params in chain:
            graph, _ = self._with_augmentation(graph, kind, params, None)
        self._push_new_nodes("Set augmentation", graph, {})

    def _with_augmentation(
        self, graph: Graph, kind: str, params: Params, before: str | None
    ) -> tuple[Graph, str]:
        end = end_of_augmentation(graph, self.layers)
        node = graph_edits.new_node(graph, kind, self.layers)
        checked = graph_edits.checked_params(node, params, self.layers)
        node = replace(node, params={**node.params, **checked})
        if before is not None:
            entering = graph.edges_into(before)
            return rewiring.inserted_before(graph, before, node, entering, self.layers), node.id
        leaving = graph.edges_from(end)
        return rewiring.inserted_after(graph, end, node, leaving, self.layers), node.id


def _without(graph: Graph, node_ids: Iterable[str]) -> Graph:
    for key in node_ids:
        graph = rewiring.bypassed(graph, [key]).without_nodes([key])
    return graph
