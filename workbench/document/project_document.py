"""The project being edited: its edits, and its file. QtCore and QtGui only."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from workbench.core.checks.problems import Fix
from workbench.core.network.diff import GraphDiff, diff
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.layout import (
    COLUMN_GAP,
    NODE_WIDTH,
    Position,
    Size,
    arrange,
    node_sizes,
)
from workbench.core.network.names import is_valid_name
from workbench.core.network.removal import removed
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.document import clipboard, graph_edits, placement, rewiring
from workbench.document.edited_project import with_places
from workbench.document.saved_project import SavedProject
from workbench.errors import GraphError, ParamError

_NAME_RULE = "Use letters, digits, _ . - (no spaces), starting with a letter or digit."


class ProjectDocument(SavedProject):
    """What the window edits. Every edit is one named undo step.

    State, signals and undo are those of EditedProject, the file is that of SavedProject.
    """

    # edits: nodes and edges --------------------------------------------------------------

    def add_node(
        self,
        kind: str,
        position: Position | None = None,
        *,
        after: str | None = None,
        edge: Edge | None = None,
    ) -> str:
        """Adds a layer and returns its id.

        Args:
            kind: Key of a layer type.
            position: Top-left corner; None finds a place by the connections.
            after: Connect from this node, where that is allowed.
            edge: Put the layer in the middle of this edge; what is below makes room.

        Raises:
            GraphError: unknown kind, or a layer that cannot be inserted in an edge.
        """
        node = self._new_node(kind)
        title = self._title(node)
        if edge is not None:
            graph = graph_edits.split_edge(self.graph, edge, node, self.layers)
            text = f"Insert {title}"
        else:
            graph = self.graph.with_node(node)
            text = f"Add {title}"
            if after is not None and not graph_edits.connection_problem(
                graph, after, node.id, None, self.layers
            ):
                graph = graph_edits.connected(graph, after, node.id, None, self.layers)
        self._push_new_nodes(text, graph, {} if position is None else {node.id: position})
        return node.id

    def insert_after(self, kind: str, node_id: str) -> str:
        """Adds a layer between a node and all that it feeds; its id. Raises GraphError for one
        that takes no connection.
        """
        node = self._new_node(kind)
        graph = rewiring.inserted_after(self.graph, node_id, node, self.layers)
        self._push_new_nodes(f"Insert {self._title(node)}", graph, {})
        return node.id

    def insert_before(self, kind: str, node_id: str) -> str:
        """Adds a layer above a node, in the edge that ends there if there is one; its id."""
        node = self._new_node(kind)
        graph = rewiring.inserted_before(self.graph, node_id, node, self.layers)
        self._push_new_nodes(f"Insert {self._title(node)}", graph, {})
        return node.id

    def change_kind(self, node_id: str, kind: str) -> None:
        """Makes a node a layer of another type; its connections are kept.

        Raises:
            GraphError: unknown kind, or one that takes fewer connections than there are.
        """
        node, new = self._node(node_id), self._new_node(kind)
        graph = rewiring.with_kind(self.graph, node_id, new, self.layers)
        self._push_graph(f"Replace {self._title(node)} with {self._title(new)}", graph)

    def detach(self, node_id: str) -> None:
        """Takes a node out of its chain, which is closed; its card is put beside."""
        graph = rewiring.bypassed(self.graph, node_id)
        sizes = node_sizes(self.graph, self.layers)
        x, y = self.positions[node_id]
        wanted = x + NODE_WIDTH + COLUMN_GAP, y
        place = placement.free_place(self.positions, sizes, node_id, wanted)
        state = with_places(self._state, {**self.positions, node_id: place})
        self._push(f"Detach {self._name(node_id)}", replace(state, graph=graph))

    def bypass(self, node_id: str) -> None:
        """Removes a node and connects what fed it with all that it fed."""
        graph = rewiring.bypassed(self.graph, node_id).without_nodes([node_id])
        self._push_graph(f"Bypass {self._name(node_id)}", graph)

    def move_onto(self, node_id: str, edge: Edge, position: Position) -> None:
        """Moves a node from its chain, which is closed, into an edge; what is below makes room.

        Raises:
            GraphError: the edge is gone, or the layer takes no connection.
        """
        graph = rewiring.moved_onto(self.graph, node_id, edge, self.layers)
        kept = {key: place for key, place in self.positions.items() if key != node_id}
        names = f"{self._name(edge.source)} and {self._name(edge.target)}"
        text = f"Move {self._name(node_id)} between {names}"
        self._push_new_nodes(text, graph, {node_id: position}, kept)

    def can_move_onto(self, node_id: str, edge: Edge) -> bool:
        """Whether `move_onto` is possible, and changes something."""
        return rewiring.can_move_onto(self.graph, node_id, edge, self.layers)

    def remove(self, node_ids: Iterable[str], edges: Iterable[Edge] = ()) -> None:
        """Removes nodes and edges. A chain that loses a link is closed again."""
        gone, cut = [key for key in node_ids if key in self.graph.nodes], list(edges)
        graph = removed(self.graph, gone, cut)
        if len(gone) == 1:
            text = f"Remove {graph_edits.title_of(self.graph.nodes[gone[0]], self.layers)}"
        else:
            text = f"Remove {len(gone)} layers" if gone else "Remove connection"
        self._push_graph(text, graph)

    # QObject has static functions of these two names, never called on a document:
    # signals are connected by their own methods.
    def connect(  # type: ignore[override]
        self,
        source: str,
        target: str,
        port: int | None = None,
        *,
        replacing: Iterable[Edge] = (),
    ) -> None:
        """Connects two nodes, in place of some edges; raises GraphError with the reason when that
        is not allowed.
        """
        graph = graph_edits.without_edges(self.graph, replacing)
        graph = graph_edits.connected(graph, source, target, port, self.layers)
        names = f"{self._name(source)} to {self._name(target)}"
        self._push_graph(f"Connect {names}", graph)

    def disconnect(self, edge: Edge) -> None:  # type: ignore[override]
        """Removes an edge."""
        names = f"{self._name(edge.source)} from {self._name(edge.target)}"
        self._push_graph(f"Disconnect {names}", self.graph.without_edge(edge))

    def connection_problem(
        self,
        source: str,
        target: str,
        port: int | None = None,
        *,
        replacing: Iterable[Edge] = (),
    ) -> str:
        """Why two nodes cannot be connected in place of some edges, in words; empty when they
        can.
        """
        graph = graph_edits.without_edges(self.graph, replacing)
        return graph_edits.connection_problem(graph, source, target, port, self.layers)

    def taken_inputs(self, target: str) -> tuple[Edge, ...]:
        """The edges one of which a new one must replace; none where an input is free."""
        return graph_edits.taken_inputs(self.graph, target, self.layers)

    def connection_warning(
        self,
        source: str,
        target: str,
        port: int | None = None,
        *,
        replacing: Iterable[Edge] = (),
    ) -> str:
        """What would not fit after connecting, in words; empty when all would."""
        graph = graph_edits.without_edges(self.graph, replacing)
        return graph_edits.connection_warning(graph, source, target, port, self.layers)

    def set_params(self, *node_ids: str, **values: Any) -> None:
        """Changes the same settings of some nodes; edits of them in a row are one step.

        Raises:
            ParamError: a value outside its bounds; nothing is changed.
            GraphError: there is no such node.
        """
        nodes, graph = [self._node(node_id) for node_id in node_ids], self.graph
        for node in nodes:
            checked = graph_edits.checked_params(node, values, self.layers)
            graph = graph.with_params(node.id, **checked)
        what = graph_edits.params_words(nodes[0], values, self.layers)
        whose = nodes[0].name if len(nodes) == 1 else f"{len(nodes)} layers"
        key = ("params", *node_ids, *sorted(values))
        self._push_graph(f"Change {what} of {whose}", graph, merge_key=key)

    def rename(self, node_id: str, name: str) -> None:
        """Gives a node another name.

        Raises:
            ParamError: it cannot be a name.
            GraphError: another node has it.
        """
        node, name = self._node(node_id), name.strip()
        if not is_valid_name(name):
            raise ParamError(_NAME_RULE, received=name)
        if any(other.name == name for other in self.graph.nodes.values() if other is not node):
            raise GraphError(f"Another layer is named “{name}”.", fix="Choose another name.")
        graph = self.graph.with_node(replace(node, name=name))
        self._push_graph(f"Rename {node.name} to {name}", graph)

    def apply_fix(self, fix: Fix) -> None:
        """Fixes a problem in the way offered; a fix that needs a choice asks for it."""
        if fix.data_param:
            self.choice_wanted.emit(fix.data_param)
        elif fix.recipe:
            recipe = self.recipe.with_values(**fix.recipe)
            self._push(fix.title, replace(self._state, recipe=recipe))
        else:
            before = self.graph
            self._push_new_nodes(fix.title, fix.apply(before), {})
            self.fixed.emit(_concerned(diff(before, self.graph), self.graph))

    # edits: places -----------------------------------------------------------------------

    def move(
        self, positions: Mapping[str, Position], text: str = "", *, merge_key: Hashable = None
    ) -> None:
        """Moves nodes: one gesture, one step; moves in a row with the same key are one too."""
        known = {key: place for key, place in positions.items() if key in self.graph.nodes}
        if not text and len(known) == 1:
            node = self.graph.nodes[next(iter(known))]
            text = f"Move {node.name}"
        places = {**self.positions, **known}
        text = text or f"Move {len(known)} layers"
        self._push(text, with_places(self._state, places), merge_key=merge_key)

    def arrange(self) -> None:
        """Lays the network out from top to bottom."""
        places = arrange(self.graph, node_sizes(self.graph, self.layers))
        self._push("Arrange", with_places(self._state, places))

    def set_view(self, zoom: float, center: Position | None) -> None:
        """Keeps zoom and position of the canvas; neither an edit nor a reason to save."""
        self._zoom, self._center = zoom, center

    # edits: copies -----------------------------------------------------------------------

    def copy_text(self, node_ids: Iterable[str]) -> str:
        """Nodes and the edges among them as text for the clipboard."""
        return clipboard.copy_text(self.graph, self.positions, node_ids)

    def paste(self, text: str, position: Position | None = None) -> list[str]:
        """Adds what `copy_text` gave, with its top-left corner at `position` or else beside the
        original, and returns the new ids; raises InputError for a text without layers.
        """
        return self._add_clipping(clipboard.read_text(text), position, "Paste")

    def duplicate(self, node_ids: Iterable[str], position: Position | None = None) -> list[str]:
        """Adds copies of nodes, with their top-left corner at `position` or else beside them, and
        returns the new ids.
        """
        clipping = clipboard.read_text(self.copy_text(node_ids))
        return self._add_clipping(clipping, position, "Duplicate")

    def _add_clipping(
        self, clipping: clipboard.Clipping, position: Position | None, verb: str
    ) -> list[str]:
        nodes = list(clipping.graph.nodes.values())
        if not nodes:
            return []
        copies, ids = graph_edits.renamed_apart(nodes, self.graph)
        edges = (Edge(ids[e.source], ids[e.target], e.port) for e in clipping.graph.edges)
        graph = Graph.of((*self.graph.nodes.values(), *copies), (*self.graph.edges, *edges))
        old = placement.complete(clipping.graph, clipping.positions, {})
        sizes = node_sizes(graph, self.layers)
        dx, dy = self._offset({ids[key]: place for key, place in old.items()}, position, sizes)
        places = {ids[key]: (x + dx, y + dy) for key, (x, y) in old.items()}
        whole = {**self.positions, **places}
        what = graph_edits.title_of(nodes[0], self.layers)
        text = f"{verb} {what if len(nodes) == 1 else f'{len(nodes)} layers'}"
        self._push(text, with_places(replace(self._state, graph=graph), whole))
        return list(places)

    def _offset(
        self,
        block: Mapping[str, Position],
        position: Position | None,
        sizes: Mapping[str, Size],
    ) -> Position:
        """How far copies are moved: to `position`, or beside the original, and aside there."""
        left, top = placement.corner(block, block)
        if position is None:
            right = max(x for x, _ in block.values()) + NODE_WIDTH
            position = (right + COLUMN_GAP, top)
        dx, dy = position[0] - left, position[1] - top
        wanted = {key: (x + dx, y + dy) for key, (x, y) in block.items()}
        others = placement.cards(self.positions, sizes)
        more = placement.aside(placement.cards(wanted, sizes), others)
        return dx + more[0], dy + more[1]

    # edits: everything else --------------------------------------------------------------

    def set_recipe(self, **values: Any) -> None:
        """Changes how to train; raises ParamError for a value outside its bounds."""
        titles = {param.key: param.title.lower() for param in RECIPE_PARAMS}
        recipe = self.recipe.with_values(**values)
        what = ", ".join(titles[key] for key in values)
        key = ("recipe", *sorted(values))
        self._push(f"Change {what}", replace(self._state, recipe=recipe), merge_key=key)

    def set_dataset(self, choice: Choice) -> None:
        """Chooses what to train on."""
        same = choice.key == self._state.dataset.key
        key = ("dataset", choice.key) if same else None
        self._push("Change data set", replace(self._state, dataset=choice), merge_key=key)

    def set_target(self, choice: Choice) -> None:
        """Chooses where to train."""
        self._push("Change target", replace(self._state, target=choice))

    def set_edits(self, edits: DataEdits, text: str) -> None:
        """Changes what is edited about the images; `text` names the undo step."""
        self._push(text, replace(self._state, edits=edits))

    # how edits are made ------------------------------------------------------------------

    def _push_graph(self, text: str, graph: Graph, merge_key: Hashable = None) -> None:
        after = replace(self._state, graph=graph)
        if graph.nodes.keys() != self.positions.keys():  # sizes take time: only when needed
            sizes = node_sizes(graph, self.layers)
            after = with_places(after, placement.complete(graph, self.positions, sizes))
        self._push(text, after, merge_key=merge_key)

    def _push_new_nodes(
        self,
        text: str,
        graph: Graph,
        given: Mapping[str, Position],
        kept: Mapping[str, Position] | None = None,
    ) -> None:
        """Pushes a graph with nodes that get places by their connections: those that `kept`,
        usually the positions there are, does not have.
        """
        sizes = node_sizes(graph, self.layers)
        known = self.positions if kept is None else kept
        places = {key: place for key, place in known.items() if key in graph.nodes}
        for key in [key for key in graph.order if key not in places]:
            places = placement.with_new(graph, places, sizes, key, given.get(key))
        after = with_places(replace(self._state, graph=graph), places)
        self._push(text, after)

    def _new_node(self, kind: str) -> Node:
        facts = self.dataset_facts
        images = None if facts is None else facts.shape
        return graph_edits.new_node(self.graph, kind, self.layers, images)

    def _node(self, node_id: str) -> Node:
        node = self.graph.nodes.get(node_id)
        if node is None:
            raise GraphError("That layer no longer exists.", where=node_id)
        return node

    def _title(self, node: Node) -> str:
        return graph_edits.title_of(node, self.layers)

    def _name(self, node_id: str) -> str:
        node = self.graph.nodes.get(node_id)
        return node.name if node else node_id


def _concerned(change: GraphDiff, graph: Graph) -> list[str]:
    """The nodes that a change is about: new ones, else changed ones, else those it connected or
    left beside what it removed.
    """
    found = change.added_nodes or change.changed_nodes
    found = found or tuple(edge.target for edge in change.added_edges)
    found = found or tuple(edge.source for edge in change.removed_edges)
    return [key for key in dict.fromkeys(found) if key in graph.nodes]
