"""The project being edited: its edits, and its file. QtCore and QtGui only."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.core.checks.problems import Fix
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.layout import Position, arrange, node_sizes
from workbench.core.network.names import is_valid_name
from workbench.core.network.removal import removed
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import read_project, save_project
from workbench.core.storage.save import sweep_leftovers
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.document import clipboard, graph_edits, placement
from workbench.document.edited_project import EditedProject, with_places
from workbench.errors import GraphError, ParamError, UnconfirmedSaveError, UsageError

_PASTE_OFFSET = 32.0
_NAME_RULE = "Use letters, digits, _ . - (no spaces), starting with a letter or digit."


class ProjectDocument(EditedProject):
    """What the window edits. Every edit is one named undo step.

    State, signals and undo are those of EditedProject.
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
        node = graph_edits.new_node(self.graph, kind, self.layers)
        title = graph_edits.title_of(node, self.layers)
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
        self, source: str, target: str, port: int | None = None
    ) -> None:
        """Connects two nodes; raises GraphError with the reason when that is not allowed."""
        graph = graph_edits.connected(self.graph, source, target, port, self.layers)
        names = f"{self._name(source)} to {self._name(target)}"
        self._push_graph(f"Connect {names}", graph)

    def disconnect(self, edge: Edge) -> None:  # type: ignore[override]
        """Removes an edge."""
        names = f"{self._name(edge.source)} from {self._name(edge.target)}"
        self._push_graph(f"Disconnect {names}", self.graph.without_edge(edge))

    def connection_problem(self, source: str, target: str, port: int | None = None) -> str:
        """Why two nodes cannot be connected, in words; empty when they can."""
        return graph_edits.connection_problem(self.graph, source, target, port, self.layers)

    def connection_warning(self, source: str, target: str, port: int | None = None) -> str:
        """What would not fit after connecting, in words; empty when all would."""
        return graph_edits.connection_warning(self.graph, source, target, port, self.layers)

    def set_params(self, node_id: str, **values: Any) -> None:
        """Changes settings of a node; edits of the same setting in a row are one step.

        Raises:
            ParamError: a value outside its bounds; nothing is changed.
            GraphError: there is no such node.
        """
        node = self._node(node_id)
        checked = graph_edits.checked_params(node, values, self.layers)
        what = graph_edits.params_words(node, checked, self.layers)
        graph = self.graph.with_params(node_id, **checked)
        key = ("params", node_id, *sorted(checked))
        self._push_graph(f"Change {what} of {node.name}", graph, merge_key=key)

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
            raise GraphError(f'Another layer is named "{name}".', fix="Choose another name.")
        graph = self.graph.with_node(replace(node, name=name))
        self._push_graph(f"Rename {node.name} to {name}", graph)

    def apply_fix(self, fix: Fix) -> None:
        """Fixes a problem in the way offered."""
        if fix.recipe:
            recipe = self.recipe.with_values(**fix.recipe)
            self._push(fix.title, replace(self._state, recipe=recipe))
        else:
            self._push_new_nodes(fix.title, fix.apply(self.graph), {})

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
        """Remembers how the canvas is looked at; neither an edit nor a reason to save."""
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

    def duplicate(self, node_ids: Iterable[str]) -> list[str]:
        """Adds copies of nodes beside them and returns the new ids."""
        clipping = clipboard.read_text(self.copy_text(node_ids))
        return self._add_clipping(clipping, None, "Duplicate")

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
        left, top = placement.corner(old, old)
        if position is None:
            offset = (left + _PASTE_OFFSET, top + _PASTE_OFFSET)
            position = placement.free_place(self.positions, offset)
        dx, dy = position[0] - left, position[1] - top
        places = {ids[key]: (x + dx, y + dy) for key, (x, y) in old.items()}
        whole = {**self.positions, **places}
        what = graph_edits.title_of(nodes[0], self.layers)
        text = f"{verb} {what if len(nodes) == 1 else f'{len(nodes)} layers'}"
        self._push(text, with_places(replace(self._state, graph=graph), whole))
        return list(places)

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

    # files -------------------------------------------------------------------------------

    def new(self, project: Project | None = None) -> None:
        """Starts with a project that has no file yet (an empty one, a template, ...)."""
        self._replace(project or Project(), None)

    def open(self, path: str | Path) -> None:
        """Opens a project file; raises ProjectFileError and keeps what was open."""
        path = Path(path).absolute()
        self._replace(read_project(path), path)

    def recover(self, project: Project, original: Path | None = None) -> None:
        """Shows a project found after a crash: an unsaved copy, never over the original."""
        self._recovered_from = original
        self._replace(project, None, is_recovered=True)

    def save(self, path: str | Path | None = None) -> None:
        """Saves to the project's file, or to another one that becomes the project's.

        Returns when the file is written; painting goes on meanwhile.

        Raises:
            SaveError: not saved, and still dirty.
            UnconfirmedSaveError: saved, but the disk did not confirm it.
            UsageError: no path is given, and the project has none.
        """
        target = Path(path).absolute() if path is not None else self.path
        if target is None:
            raise UsageError("The project has no file yet.", fix="Choose a file to save it in.")
        state, project = self._state, self.project
        try:
            self.writer.write_and_wait(lambda: _save(project, target))
        except UnconfirmedSaveError:
            self._take_saved(state, target)
            raise
        self._take_saved(state, target)

    # how edits are made ------------------------------------------------------------------

    def _push_graph(self, text: str, graph: Graph, merge_key: Hashable = None) -> None:
        after = replace(self._state, graph=graph)
        if graph.nodes.keys() != self.positions.keys():  # sizes take time: only when needed
            sizes = node_sizes(graph, self.layers)
            after = with_places(after, placement.complete(graph, self.positions, sizes))
        self._push(text, after, merge_key=merge_key)

    def _push_new_nodes(self, text: str, graph: Graph, given: Mapping[str, Position]) -> None:
        """Pushes a graph with more nodes, which get places by their connections."""
        sizes = node_sizes(graph, self.layers)
        places = {key: place for key, place in self.positions.items() if key in graph.nodes}
        new = [key for key in graph.order if key not in places]
        for key in new:
            found = given.get(key) or placement.between(graph, places, sizes, key)
            places[key] = found
            if graph.sources(key) and graph.targets(key):
                places = placement.complete(graph, places, sizes)
                places = placement.make_room(graph, places, sizes, key)
        after = with_places(replace(self._state, graph=graph), places)
        self._push(text, after)

    def _node(self, node_id: str) -> Node:
        node = self.graph.nodes.get(node_id)
        if node is None:
            raise GraphError("That layer no longer exists.", where=node_id)
        return node

    def _name(self, node_id: str) -> str:
        node = self.graph.nodes.get(node_id)
        return node.name if node else node_id


def _save(project: Project, path: Path) -> None:
    """Runs in the writer's thread."""
    sweep_leftovers(path.parent)
    save_project(project, path)
