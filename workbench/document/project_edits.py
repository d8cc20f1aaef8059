"""Edits of a project: its groups, when its layers learn, its data and classes; and what is
saved.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from workbench.backbones import Inserted, insert_backbone, lost_weights
from workbench.core.coach import Change, with_change
from workbench.core.network.folding import (
    Blocks,
    Folding,
    arrange_blocks,
    between,
    card_id,
    group_of,
    is_card,
)
from workbench.core.network.graph import Edge, Graph, Node, Training
from workbench.core.network.layout import Position, Size, node_sizes
from workbench.core.network.roles import (
    input_node,
    input_nodes,
    learning_from,
    nodes_text,
    num_outputs,
    specs_of,
    with_num_outputs,
    with_random_weights,
    with_training,
    with_weights,
)
from workbench.core.projects.data_edits import DataEdits, Versions
from workbench.core.projects.project import Project, RobustnessTest, View, new_project_id
from workbench.core.projects.project_file import project_bytes, read_stamped
from workbench.core.specs import BackboneSpec, Role
from workbench.core.storage.save import FileStamp, OnlyOver, save_bytes, sweep_leftovers
from workbench.document import graph_edits, placement
from workbench.document.edited_project import EditedProject
from workbench.document.placement import folded_as, with_places
from workbench.errors import (
    FileChangedError,
    GraphError,
    ParamError,
    UnconfirmedSaveError,
    UsageError,
)

# saved project -------------------------------------------------------------------------------
# The file of the project being edited: new, open, save, recover.


class SavedProject(EditedProject):
    """An edited project that comes from a file and goes into one."""

    def new(self, project: Project | None = None) -> None:
        """Starts with a project that has no file yet (an empty one, a template, ...), as one of
        its own: two of the same template do not share their runs.
        """
        self._replace(replace(project or Project(), id=""), None)

    def restore(self, project: Project, origin: Path | None = None) -> None:
        """Goes on with a project without a file, such as that of a run, as the same project.

        Args:
            project: What it was.
            origin: The file that it was of.
        """
        self._replace(project, None, origin=origin)

    def open(self, path: str | Path) -> None:
        """Opens a project file; raises ProjectFileError and keeps what was open."""
        path = Path(path).absolute()
        project, stamp = read_stamped(path)
        self._replace(project, path, stamp)

    def recover(self, project: Project, original: Path | None = None) -> None:
        """Shows a project found after a crash: an unsaved copy, never over the original."""
        self._replace(project, None, origin=original, is_recovered=True)

    def save(self, path: str | Path | None = None, *, over: FileStamp | None = None) -> None:
        """Saves to the project's file, or to another one that becomes the project's.

        Returns when the file is written; painting goes on meanwhile. Beside the file that it came
        from it is a copy, and from here on a project of its own, with runs of its own. Where that
        file is gone (renamed, moved) or there was none, it stays the project it is.

        Args:
            path: Another file.
            over: What another program has written to the project's file, if that may be
                replaced: what the user was shown, so that a still later change is not.

        Raises:
            SaveError: not saved, and still dirty.
            FileChangedError: another program has changed the file; `disk.found` says to what.
            UnconfirmedSaveError: saved, but the disk did not confirm it.
            UsageError: no path is given, and the project has none.
        """
        target = Path(path).absolute() if path is not None else self.path
        if target is None:
            raise UsageError("The project has no file yet.", fix="Choose a file to save it in.")
        state, project = self._state, self.project
        if self._origin is not None and self._origin != target and self._origin.exists():
            project = replace(project, id=new_project_id())
        guard, written = self.disk.guard(target, over), list[FileStamp]()
        with self.disk.saving():
            try:
                self.writer.write_and_wait(lambda: _save(project, target, guard, written))
            except FileChangedError:
                self.disk.saw(guard.found)
                raise
            except UnconfirmedSaveError:
                self._take_saved(state, target, written[0], project.id)
                raise
            self._take_saved(state, target, written[0], project.id)

    def close(self) -> None:
        """Waits for what is still written; for the end of the application."""
        self.writer.finish()
        self._looker.close()
        self.disk.close()


def _save(project: Project, path: Path, guard: OnlyOver, written: list[FileStamp]) -> None:
    """Runs in the writer's thread; adds the stamp of the content to `written`."""
    sweep_leftovers(path.parent)
    data = project_bytes(project, path)
    written.append(FileStamp.of_bytes(data))
    save_bytes(path, data, through_link=True, guard=guard)


# grouped project -----------------------------------------------------------------------------
# Groups of layers in the project being edited: folding and opening them, and what an edit of a
# card means for the layers behind it.

_NEW_GROUP = "block"
_MOST_LETTERS = 100
"""Longest name of a group: that of a project file."""


class GroupedProject(SavedProject):
    """A project whose canvas shows groups as one card each.

    Its edits take ids and edges of `shown`: an edit of a card is one of its layers.
    """

    # groups ------------------------------------------------------------------------------

    def fold(self, *names: str) -> None:
        """Makes groups one card each; what is behind them closes the gap.

        Raises:
            GraphError: another layer lies between the layers of a group.
        """
        folded = self.folded | {*names}
        shown = Folding.of(self.graph, folded)
        for name in names:
            if card_id(name) not in shown.members:
                raise self._cannot_fold(name)
        self._refold(folded)

    def open_group(self, *names: str) -> None:
        """Shows the layers of groups; what is behind them makes room."""
        self._refold(self.folded - {*names})

    def group(self, shown_ids: Iterable[str]) -> str:
        """Makes layers a group, which is open, and returns its name; they leave other groups."""
        ids = self.shown.layers_of(shown_ids)
        state = self._opened({self.graph.nodes[key].group for key in ids})
        name = graph_edits.new_group_name(_NEW_GROUP, state.graph.groups)
        graph = _with_group(state.graph, ids, name)
        self._push(f"Group {len(ids)} layers", replace(state, graph=graph))
        return name

    def ungroup(self, *names: str) -> None:
        """Makes the layers of groups layers on their own."""
        state = self._opened(names)
        graph = state.graph
        for name in names:
            graph = _with_group(graph, graph.groups.get(name, ()), "")
        self._push(f"Ungroup {_groups_text(names)}", replace(state, graph=graph))

    def rename_group(self, name: str, wanted: str) -> None:
        """Gives a group another name.

        Raises:
            ParamError: it cannot be a name.
            GraphError: another group has it.
        """
        wanted = wanted.strip()
        if not wanted or len(wanted) > _MOST_LETTERS or not wanted.isprintable():
            raise ParamError(f"Use 1 to {_MOST_LETTERS} visible characters.", received=wanted)
        if wanted == name:
            return
        if wanted in self.graph.groups:
            raise GraphError(f"Another group is named “{wanted}”.", fix="Choose another name.")
        graph = _with_group(self.graph, self.graph.groups[name], wanted)
        folded = self.folded - {name} | ({wanted} if name in self.folded else set())
        state = replace(self._state, graph=graph, view=replace(self._state.view, folded=folded))
        self._push(f"Rename {name} to {wanted}", state)

    def selected_group(self, shown_ids: Collection[str]) -> str:
        """The name of the group that these cards are, all of it and nothing else; "" for none."""
        names = {
            self.shown.graph.nodes[key].group for key in shown_ids if key in self.shown.graph.nodes
        }
        if len(names) != 1:
            return ""
        (name,) = names
        ids = self.shown.layers_of(shown_ids)
        return name if name and len(ids) == len(self.graph.groups[name]) else ""

    def _cannot_fold(self, name: str) -> GraphError:
        outside = between(self.graph, self.graph.groups.get(name, ()))
        if not outside:
            return GraphError(
                f"“{name}” cannot be folded: it would form a cycle with another folded group.",
                fix="Open the other group first.",
            )
        words = nodes_text(outside, self.graph, self.layers)
        lies = "lies" if len(outside) == 1 else "lie"
        return GraphError(
            f"“{name}” cannot be folded: {words} {lies} between its layers.",
            fix="Add them to the group, or ungroup it.",
        )

    def _opened(self, names: Iterable[str]) -> Project:
        """The state with these groups opened."""
        return folded_as(self._state, self.folded - {*names}, self.layers)

    # places ------------------------------------------------------------------------------

    def move(
        self, positions: Mapping[str, Position], text: str = "", *, merge_key: Hashable = None
    ) -> None:
        """Moves cards: one gesture, one step; moves in a row with the same key are one too."""
        known = {key: place for key, place in positions.items() if key in self.shown.graph.nodes}
        if not text and len(known) == 1:
            text = f"Move {self._name(next(iter(known)))}"
        places = self.blocks.moved(known, self.positions)
        text = text or f"Move {len(known)} layers"
        self._push(text, with_places(self._state, places), merge_key=merge_key)

    def arrange(self) -> None:
        """Lays the network out from top to bottom."""
        places = arrange_blocks(self.graph, node_sizes(self.graph, self.layers), self.folded)
        self._push("Arrange", with_places(self._state, places))

    def _push_graph(self, text: str, graph: Graph, merge_key: Hashable = None) -> None:
        after = replace(self._state, graph=graph)
        if graph.nodes.keys() != self.positions.keys():  # sizes take time: only when needed
            sizes = node_sizes(graph, self.layers)
            places = placement.complete(graph, self.positions, sizes, self.folded)
            after = with_places(after, places)
        self._push(text, after, merge_key=merge_key)

    def _push_new_nodes(self, text: str, graph: Graph, given: Mapping[str, Position]) -> None:
        """Pushes a graph with nodes that get places by their connections, or those given."""
        new = [key for key in graph.order if key not in self.positions]
        graph = graph_edits.adopted(graph, new)
        sizes = node_sizes(graph, self.layers)
        places = {key: place for key, place in self.positions.items() if key in graph.nodes}
        for key in new:
            places = self._placed(graph, places, sizes, key, wanted=given.get(key))
        self._push(text, with_places(replace(self._state, graph=graph), places))

    def _placed(
        self,
        graph: Graph,
        places: Mapping[str, Position],
        sizes: Mapping[str, Size],
        key: str,
        *,
        wanted: Position | None,
        folded: Collection[str] | None = None,
    ) -> dict[str, Position]:
        """Places with one more layer or card, which is `key`; groups make room as one piece. Those
        of `folded`, usually those of the project, are cards.
        """
        folded = self.folded if folded is None else folded
        own = group_of(key) if is_card(key) else graph.nodes[key].group
        if own and own in folded and not is_card(key):
            hidden = graph.without_nodes(graph.nodes.keys() - set(graph.groups[own]))
            inner = {each: places[each] for each in hidden.nodes if each in places}
            return {**places, **placement.with_new(hidden, inner, sizes, key)}
        names = graph.groups.keys() - (set() if is_card(key) else {own})
        blocks = Blocks.of(
            Folding.of(graph, names), places, sizes, graph.groups.keys() - set(folded)
        )
        known = {each: place for each, place in blocks.places.items() if each != key}
        shown = blocks.folding.graph
        return blocks.moved(placement.with_new(shown, known, blocks.sizes, key, wanted), places)

    # what a card means -------------------------------------------------------------------

    def _layers_of(self, shown_ids: Iterable[str]) -> list[str]:
        return [key for key in self.shown.layers_of(shown_ids) if key in self.graph.nodes]

    def _edges_of(self, edges: Iterable[Edge]) -> list[Edge]:
        return [real for edge in edges for real in self.shown.edges_of(edge)]

    def _inputs(
        self, target: str, port: int | None, replacing: Iterable[Edge]
    ) -> list[tuple[str, int | None]]:
        """The inputs of layers, as node and port, that a connection to a card ends at: those of
        the one that it replaces there, or the entry's.
        """
        if not is_card(target):
            return [(target, port)]
        gone = self._edges_of(edge for edge in replacing if edge.target == target)
        return [(edge.target, edge.port) for edge in gone] or [(self.shown.entry(target), None)]

    def _node(self, node_id: str) -> Node:
        node = self.graph.nodes.get(node_id)
        if node is None:
            raise GraphError("That layer no longer exists.", where=node_id)
        return node

    def _name(self, shown_id: str) -> str:
        node = self.shown.graph.nodes.get(shown_id) or self.graph.nodes.get(shown_id)
        return node.name if node else shown_id


def _with_group(graph: Graph, ids: Iterable[str], name: str) -> Graph:
    return graph.with_nodes(replace(graph.nodes[key], group=name) for key in ids)


def _groups_text(names: Collection[str]) -> str:
    return next(iter(names)) if len(names) == 1 else f"{len(names)} groups"


# learning project ----------------------------------------------------------------------------
# Edits of when the project's layers learn, and with which weights they start.

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


# data project --------------------------------------------------------------------------------
# What follows from the data of the project being edited: its network, its classes, and what runs
# are measured on.


class DataProject(LearningProject):
    """A project whose network and classes are edited where its data is looked at."""

    def use_network(self, project: Project, text: str) -> None:
        """Takes the network, the training settings and the summary of a project; the data set, its
        edits and the target stay. `text` names the undo step.
        """
        graph, folded = project.graph, project.view.folded
        sizes = node_sizes(graph, self.layers)
        places = placement.complete(graph, project.view.positions, sizes, folded)
        state = replace(
            self._state,
            graph=graph,
            recipe=project.recipe,
            summary=project.summary,
            view=View(folded=folded),
        )
        self._push(text, with_places(state, places))

    def set_classes(
        self, classes: Mapping[str, str], text: str, *, counts: tuple[int, int]
    ) -> None:
        """Renames, merges or leaves out classes (`DataEdits.classes`), in a step that `text` names.

        Args:
            classes: Name in the data set -> name in the project, "" for one that is left out.
            text: Words of the undo step.
            counts: How many classes there were before, and are then: a last layer with exactly as
                many outputs follows.
        """
        before, after = counts
        edits: DataEdits = replace(self._state.edits, classes=dict(classes))
        graph = self.graph
        if before != after and num_outputs(graph, self.layers) == before:
            graph = with_num_outputs(graph, self.layers, after)
        self._push(text, replace(self._state, graph=graph, edits=edits))

    def set_data_versions(self, versions: Versions) -> None:
        """Changes the named versions of the data edits: no step of undo, which keeps them, as one
        saves a version to be able to go back.
        """
        self.show_state(replace(self._state, data_versions=versions))

    def set_robustness(self, tests: tuple[RobustnessTest, ...], text: str) -> None:
        """Changes what each later run is measured on; `text` names the undo step."""
        self._push(text, replace(self._state, robustness=tests))
