"""The project being edited: its edits, and its file. QtCore and QtGui only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.core.checks.images import with_input_shape
from workbench.core.checks.problems import Fix
from workbench.core.checks.shapes import Propagation
from workbench.core.network.folding import Blocks, Folding, group_of, is_card
from workbench.core.network.graph import Edge, Graph, GraphDiff, Node, diff, is_valid_name, removed
from workbench.core.network.layout import COLUMN_GAP, NODE_WIDTH, Position, node_sizes
from workbench.core.network.roles import (
    augmentation_nodes,
    end_of_augmentation,
    input_node,
    reordered,
)
from workbench.core.params import Params
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.document import graph_edits, placement
from workbench.document.placement import with_places
from workbench.document.project_edits import DataProject
from workbench.errors import GraphError, ParamError

# augmented project ---------------------------------------------------------------------------
# The augmentation layers of the project being edited, as one chain.


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
            return graph_edits.inserted_before(graph, before, node, entering, self.layers), node.id
        leaving = graph.edges_from(end)
        return graph_edits.inserted_after(graph, end, node, leaving, self.layers), node.id


def _without(graph: Graph, node_ids: Iterable[str]) -> Graph:
    for key in node_ids:
        graph = graph_edits.bypassed(graph, [key]).without_nodes([key])
    return graph


# project document ----------------------------------------------------------------------------

_NAME_RULE = "Use letters, digits, _ . - (no spaces), starting with a letter or digit."


class ProjectDocument(AugmentedProject):
    """What the window edits. Every edit is one named undo step.

    State, signals and undo are those of EditedProject, the file is that of SavedProject, groups,
    learning, data and augmentation those of its other bases: an edit of a folded group's card is
    one of its layers.
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
            real = self.shown.edges_of(edge)
            graph = graph_edits.split_edges(self.graph, real, node, self.layers)
            text = f"Insert {title}"
        else:
            graph = self.graph.with_node(node)
            text = f"Add {title}"
            after = None if after is None else self.shown.exit(after)
            inputs = [(node.id, None)]
            if after is not None and not graph_edits.connection_problem(
                graph, after, inputs, self.layers
            ):
                graph = graph_edits.connected(graph, after, node.id, None, self.layers)
        self._push_new_nodes(text, graph, {} if position is None else {node.id: position})
        return node.id

    def insert_after(self, kind: str, node_id: str) -> str:
        """Adds a layer between a node and all that it feeds; its id. Raises GraphError for one
        that takes no connection.
        """
        node = self._new_node(kind)
        source = self.shown.exit(node_id)
        leaving = self._edges_of(self.shown.graph.edges_from(node_id))
        cut = [edge for edge in leaving if edge.source == source]
        graph = graph_edits.inserted_after(self.graph, source, node, cut, self.layers)
        self._push_new_nodes(f"Insert {self._title(node)}", graph, {})
        return node.id

    def insert_before(self, kind: str, node_id: str) -> str:
        """Adds a layer above a node, in the edge that ends there if there is one; its id."""
        node = self._new_node(kind)
        entering = self._edges_of(self.shown.graph.edges_into(node_id)[:1])
        target = self.shown.entry(node_id)
        graph = graph_edits.inserted_before(self.graph, target, node, entering, self.layers)
        self._push_new_nodes(f"Insert {self._title(node)}", graph, {})
        return node.id

    def change_kind(self, node_id: str, kind: str) -> None:
        """Makes a node a layer of another type; its connections are kept.

        Raises:
            GraphError: unknown kind, or one that takes fewer connections than there are.
        """
        node, new = self._node(node_id), self._new_node(kind)
        graph = graph_edits.with_kind(self.graph, node_id, new, self.layers)
        self._push_graph(f"Replace {self._title(node)} with {self._title(new)}", graph)

    def detach(self, shown_id: str) -> None:
        """Takes a layer, or a folded group, out of its chain, which is closed; its card is put
        beside.
        """
        ids = self._layers_of([shown_id])
        graph = graph_edits.bypassed(self.graph, ids)
        x, y = self.shown_positions[shown_id]
        wanted = x + NODE_WIDTH + COLUMN_GAP, y
        place = placement.free_place(self.blocks.places, self.blocks.sizes, shown_id, wanted)
        places = self.blocks.moved({shown_id: place}, self._without_gap(ids))
        state = with_places(self._state, places)
        self._push(f"Detach {self._name(shown_id)}", replace(state, graph=graph))

    def bypass(self, shown_id: str) -> None:
        """Removes a card and connects what fed it with all that it fed."""
        ids = self._layers_of([shown_id])
        graph = graph_edits.bypassed(self.graph, ids).without_nodes(ids)
        closed = self._without_gap(ids)
        places = {key: closed[key] for key in graph.nodes}
        state = with_places(self._state, places)
        self._push(f"Bypass {self._name(shown_id)}", replace(state, graph=graph))

    def _without_gap(self, ids: Sequence[str]) -> dict[str, Position]:
        """Positions of all layers once the chain of one is closed without it; a group leaves its
        place as it is.
        """
        if len(ids) != 1:
            return dict(self.positions)
        sizes = node_sizes(self.graph, self.layers)
        return placement.without_gap(self.graph, self.positions, sizes, ids[0])

    def move_onto(self, shown_id: str, edge: Edge, position: Position) -> None:
        """Moves a card from its chain, which is closed, into an edge; what is below makes room.

        Raises:
            GraphError: the edge is gone, or the layer takes no connection.
        """
        ends = self.shown.entry(shown_id), self.shown.exit(shown_id)
        ids, real = self._layers_of([shown_id]), self.shown.edges_of(edge)
        graph = graph_edits.moved_onto(self.graph, ids, ends, real, self.layers)
        names = f"{self._name(edge.source)} and {self._name(edge.target)}"
        text = f"Move {self._name(shown_id)} between {names}"
        places = self._without_gap(ids)
        if ids == [shown_id]:
            del places[shown_id]
        x, y = position  # in the place of the edge, which may have moved up
        above = places.get(edge.source, (0.0, 0.0))[1]
        position = x, y + above - self.positions.get(edge.source, (0.0, above))[1]
        sizes = node_sizes(graph, self.layers)
        places = self._placed(graph, places, sizes, shown_id, wanted=position)
        self._push(text, with_places(replace(self._state, graph=graph), places))

    def can_move_onto(self, shown_id: str, edge: Edge) -> bool:
        """Whether `move_onto` is possible, and changes something."""
        ids, real = self._layers_of([shown_id]), self.shown.edge_of(edge)
        return graph_edits.can_move_onto(self.graph, ids, real, self.layers)

    def remove(self, shown_ids: Iterable[str], edges: Iterable[Edge] = ()) -> None:
        """Removes cards and edges. A chain that loses a link is closed again."""
        ids = [key for key in shown_ids if key in self.shown.graph.nodes]
        gone, cut = self._layers_of(ids), self._edges_of(edges)
        graph = removed(self.graph, gone, cut)
        if name := self.selected_group(ids):
            text = f"Remove {name}"
        elif len(gone) == 1:
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
        names = f"{self._name(source)} to {self._name(target)}"
        inputs, gone = self._inputs(target, port, replacing), self._edges_of(replacing)
        graph = graph_edits.without_edges(self.graph, gone)
        start = self.shown.exit(source)
        graph = graph_edits.connected_all(graph, start, inputs, self.layers)
        self._push_graph(f"Connect {names}", graph)

    def disconnect(self, edge: Edge) -> None:  # type: ignore[override]
        """Removes an edge."""
        names = f"{self._name(edge.source)} from {self._name(edge.target)}"
        graph = graph_edits.without_edges(self.graph, self.shown.edges_of(edge))
        self._push_graph(f"Disconnect {names}", graph)

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
        inputs, gone = self._inputs(target, port, replacing), self._edges_of(replacing)
        graph = graph_edits.without_edges(self.graph, gone)
        start = self.shown.exit(source)
        return graph_edits.connection_problem(graph, start, inputs, self.layers)

    def taken_inputs(self, target: str) -> tuple[Edge, ...]:
        """The edges one of which a new one must replace; none where an input is free."""
        taken = graph_edits.taken_inputs(self.graph, self.shown.entry(target), self.layers)
        shown = map(self.shown.shown_edge, taken)
        return tuple(edge for edge in shown if edge is not None)

    def connection_warning(
        self,
        source: str,
        target: str,
        port: int | None = None,
        *,
        replacing: Iterable[Edge] = (),
    ) -> str:
        """What would not fit after connecting, in words; empty when all would."""
        inputs, gone = self._inputs(target, port, replacing), self._edges_of(replacing)
        graph = graph_edits.without_edges(self.graph, gone)
        start = self.shown.exit(source)
        return graph_edits.connection_warning(graph, start, inputs, self.layers)

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
        """Gives a layer, or the group that a card is of, another name.

        Raises:
            ParamError: it cannot be a name.
            GraphError: another one has it.
        """
        if is_card(node_id):
            self.rename_group(group_of(node_id), name)
            return
        node, name = self._node(node_id), name.strip()
        if not is_valid_name(name):
            raise ParamError(_NAME_RULE, received=name)
        if any(other.name == name for other in self.graph.nodes.values() if other is not node):
            raise GraphError(f"Another layer is named “{name}”.", fix="Choose another name.")
        graph = self.graph.with_node(replace(node, name=name))
        self._push_graph(f"Rename {node.name} to {name}", graph)

    def apply_fix(self, fix: Fix) -> None:
        """Fixes a problem in the way offered; a fix that needs an answer asks for it."""
        if fix.is_asked:
            self.answer_wanted.emit(fix)
        elif fix.recipe:
            recipe = self.recipe.with_values(**fix.recipe)
            self._push(fix.title, replace(self._state, recipe=recipe))
        else:
            before = self.graph
            self._push_new_nodes(fix.title, fix.apply(before), {})
            self.fixed.emit(_concerned(diff(before, self.graph), self.graph))

    # edits: places -----------------------------------------------------------------------

    def set_view(self, zoom: float, center: Position | None) -> None:
        """Keeps zoom and position of the canvas; neither an edit nor a reason to save."""
        self._zoom, self._center = zoom, center

    # edits: copies -----------------------------------------------------------------------

    def copy_text(self, shown_ids: Iterable[str]) -> str:
        """Layers and the edges among them as text for the clipboard."""
        ids = self._layers_of(shown_ids)
        return placement.copy_text(self.graph, self.positions, ids, self.folded)

    def paste(self, text: str, position: Position | None = None) -> list[str]:
        """Adds what `copy_text` gave, with its top-left corner at `position` or else beside the
        original, and returns the new ids; raises InputError for a text without layers.
        """
        return self._add_clipping(placement.read_text(text), position, "Paste")

    def duplicate(self, shown_ids: Iterable[str], position: Position | None = None) -> list[str]:
        """Adds copies of layers, with their top-left corner at `position` or else beside them, and
        returns the new ids.
        """
        clipping = placement.read_text(self.copy_text(shown_ids))
        return self._add_clipping(clipping, position, "Duplicate")

    def _add_clipping(
        self, clipping: placement.Clipping, position: Position | None, verb: str
    ) -> list[str]:
        nodes = list(clipping.graph.nodes.values())
        if not nodes:
            return []
        copies, ids = graph_edits.renamed_apart(nodes, self.graph)
        edges = (Edge(ids[e.source], ids[e.target], e.port) for e in clipping.graph.edges)
        graph = Graph.of((*self.graph.nodes.values(), *copies), (*self.graph.edges, *edges))
        names = {old.group: new.group for old, new in zip(nodes, copies, strict=True)}
        folded = {names[name] for name in clipping.folded}
        old = placement.complete(clipping.graph, clipping.positions, {}, clipping.folded)
        block = {ids[key]: place for key, place in old.items()}
        dx, dy = self._offset(graph, block, folded, position)
        whole = {**self.positions, **{key: (x + dx, y + dy) for key, (x, y) in block.items()}}
        what = graph_edits.title_of(nodes[0], self.layers)
        text = f"{verb} {what if len(nodes) == 1 else f'{len(nodes)} layers'}"
        graph = self._with_own_images(graph)
        view = replace(self._state.view, positions=whole, folded=self.folded | folded)
        self._push(text, replace(self._state, graph=graph, view=view))
        return list(self.shown.shown_ids(block))

    def _with_own_images(self, graph: Graph) -> Graph:
        """A graph whose Input has come from elsewhere, with the shape of the images here, where its
        layers can take that.
        """
        start, shape = input_node(graph, self.layers), self.input_shape
        if start is None or start.id in self.graph.nodes or shape is None:
            return graph
        fitted = with_input_shape(graph, start.id, shape, self.layers)
        before, after = (len(Propagation(each, self.layers).problems) for each in (graph, fitted))
        return fitted if after <= before else graph

    def _offset(
        self,
        graph: Graph,
        block: Mapping[str, Position],
        folded: Collection[str],
        position: Position | None,
    ) -> Position:
        """How far copies are moved: to `position`, or beside the original, and aside there."""
        sizes = node_sizes(graph, self.layers)
        copies = Blocks.of(Folding.of(graph, folded), block, sizes)
        left, top = placement.corner(copies.places, copies.places)
        if position is None:
            right = max(x for x, _ in copies.places.values()) + NODE_WIDTH
            position = (right + COLUMN_GAP, top)
        dx, dy = position[0] - left, position[1] - top
        wanted = {key: (x + dx, y + dy) for key, (x, y) in copies.places.items()}
        others = placement.cards(self.blocks.places, self.blocks.sizes)
        more = placement.aside(placement.cards(wanted, copies.sizes), others)
        return dx + more[0], dy + more[1]

    # edits: everything else --------------------------------------------------------------

    def set_recipe(self, **values: Any) -> None:
        """Changes how to train; raises ParamError for a value outside its bounds."""
        titles = {param.key: param.title.lower() for param in RECIPE_PARAMS}
        recipe = self.recipe.with_values(**values)
        what = ", ".join(titles[key] for key in values)
        key = ("recipe", *sorted(values))
        self._push(f"Change {what}", replace(self._state, recipe=recipe), merge_key=key)

    def take_trial(self, recipe: TrainingRecipe, graph: Graph, text: str) -> None:
        """Trains as a run of a sweep did; `text` names the undo step."""
        self._push(text, replace(self._state, recipe=recipe, graph=graph))

    def set_dataset(self, choice: Choice) -> None:
        """Chooses what to train on. People's own images that are chosen in place of published ones
        are validated on a split of their own: only a published figure is reproduced with the
        test images.
        """
        same = choice.key == self._state.dataset.key
        key = ("dataset", choice.key) if same else None
        spec, recipe = self._datasets.get(choice.key), self.recipe
        if not same and recipe.validation == "test" and spec is not None and spec.source_param:
            recipe = recipe.with_values(validation="split")
        after = replace(self._state, dataset=choice, recipe=recipe)
        before, param = self._state.dataset, spec.source_param if spec is not None else ""
        if not same or choice.params.get(param) != before.params.get(param):
            after = replace(after, summary="")  # it is about the images before
        self._push("Change data set", after, merge_key=key)

    def set_target(self, choice: Choice) -> None:
        """Chooses where to train."""
        self._push("Change target", replace(self._state, target=choice))

    def set_edits(self, edits: DataEdits, text: str) -> None:
        """Changes what is edited about the images; `text` names the undo step."""
        self._push(text, replace(self._state, edits=edits))

    # how edits are made ------------------------------------------------------------------

    def _new_node(self, kind: str) -> Node:
        return graph_edits.new_node(self.graph, kind, self.layers, self.input_shape)

    def _title(self, node: Node) -> str:
        return graph_edits.title_of(node, self.layers)


def _concerned(change: GraphDiff, graph: Graph) -> list[str]:
    """The nodes that a change is about: new ones, else changed ones, else those it connected or
    left beside what it removed.
    """
    found = change.added_nodes or change.changed_nodes
    found = found or tuple(edge.target for edge in change.added_edges)
    found = found or tuple(edge.source for edge in change.removed_edges)
    return [key for key in dict.fromkeys(found) if key in graph.nodes]
