"""The machine below the document: state, undo stack, analysis and signals.

Each edit makes a new Project; undo shows the one before again. Folding a group is no edit but a
way to look at it: it is kept in the project and survives undo and redo. After each change shapes,
costs and problems are recomputed before any signal is emitted: a slot finds `analysis`,
`positions` and `graph` in step.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from workbench.backbones import backbone_keys, missing_weights, pretrained_layer
from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.data import (
    Missing,
    MissingWeights,
    absent_data,
    has_to_be_there,
    unset_data,
)
from workbench.core.checks.images import DatasetFacts, input_shape, pretrained_shape
from workbench.core.network.folding import Blocks, Folding
from workbench.core.network.graph import Edge, Graph, diff
from workbench.core.network.layout import Position, node_sizes
from workbench.core.network.roles import Layers
from workbench.core.projects.project import Project, new_project_id
from workbench.core.projects.texts import limits_of
from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec, Shape, TargetLimits, TargetSpec
from workbench.core.storage.save import FileStamp
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import glance_at
from workbench.document import placement
from workbench.document.disk_file import DiskFile, DiskState, FileWriter
from workbench.document.fix_finder import FixFinder
from workbench.document.placement import folded_as, seen_as, with_places
from workbench.errors import SaveError
from workbench.runs.home import data_home
from workbench.runs.moved_data import data_now

# edits ---------------------------------------------------------------------------------------
# Edits as values: what the project was before and is after, never an inverse operation.

_EDIT_ID = 1


Selection = tuple[tuple[str, ...], tuple[Edge, ...]]
"""Ids of the selected nodes, and the selected edges."""


class Editable(Protocol):
    """What an edit changes."""

    selection: Selection

    def show_state(self, state: Project) -> None:
        """Makes a project the state."""

    def return_to(self, state: Project) -> Project:
        """Makes a project that was the state before it again, seen as the present one is; returns
        the one that is left.
        """

    def restore_selection(self, selection: Selection) -> None:
        """Selects again what was selected when that state was left."""


class GraphEdit(QUndoCommand):
    """One named step of the undo stack, e.g. "Change filters of conv2d_2".

    It makes the project without or with the edit the owner's state, with the selection that was
    there before the edit, or when it was undone. What is left is kept as it was last seen: groups
    may have been folded since. Consecutive edits of the same `merge_key` become
    one; None never merges.
    """

    def __init__(
        self,
        text: str,
        before: Project,
        after: Project,
        owner: Editable,
        merge_key: Hashable = None,
    ) -> None:
        super().__init__(text.replace("&", "&&"))  # Edit > Undo shows it in a menu
        self.before = before
        self.after = after
        self._owner = owner
        self._selected_before = owner.selection
        self._selected_after: Selection | None = None
        self.merge_key = merge_key

    def redo(self) -> None:
        if self._selected_after is None:  # the first time
            self._owner.show_state(self.after)
        else:
            self.before = self._owner.return_to(self.after)
            self._owner.restore_selection(self._selected_after)

    def undo(self) -> None:
        self._selected_after = self._owner.selection
        self.after = self._owner.return_to(self.before)
        self._owner.restore_selection(self._selected_before)

    def id(self) -> int:
        """The same for all edits: `mergeWith` decides."""
        return _EDIT_ID

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Takes over what a following edit of the same thing led to.

        An edit that ends where it began is dropped from the stack.
        """
        if not isinstance(other, GraphEdit) or self.merge_key is None:
            return False
        if other.merge_key != self.merge_key or other.before is not self.after:
            return False
        self.after = other.after
        self.setObsolete(self.after == self.before)
        return True


# edited project ------------------------------------------------------------------------------

_UNDO_LIMIT = 1000

_Look = tuple[tuple[Missing, ...], tuple[MissingWeights, ...], DatasetFacts | None]
"""What is not there, and what a listing of the images shows."""


def look_at(
    project: Project, spec: DatasetSpec | None, listed: DatasetFacts | None, *, lists: bool
) -> _Look:
    """What is on the disk of a project's data and pretrained weights, and what is known of the
    images: `listed`, or what listing them shows. That takes seconds for many: not for the window's
    own thread.
    """
    there = replace(project, dataset=data_now(project.dataset))
    absent = absent_data(spec, there.dataset.params)
    facts = glance_at(there) if lists and not absent else listed
    return absent, missing_weights(backbone_keys(project.graph)), None if absent else facts


class EditedProject(QObject):
    """A project that is edited through an undo stack.

    Args:
        layers: The layer types there are.
        datasets: The data sets there are: the chosen one has shape and classes.
        targets: The places to train there are: the chosen one checks the recipe.
        state_folder: Where windows with the same file see each other; None for the user's.

    Attributes:
        layers: The layer types there are.
        undo_stack: The steps; the window makes its undo and redo actions from it.
        writer: Where all files of the document are written, in order.
        disk: The project's file as the disk has it.
        path: The project's file; None before the first save.
        project_id: Identifies the project; "" until it is edited, for the empty
            one that a window begins with.
        analysis: Shapes, costs and problems of the project as it is now.
        fixes: Finds the fixes of these problems.
        shown: The graph as the canvas shows it: folded groups are one card.
        is_recovered: It came back after a crash and is not saved since.
        selection: What is selected on the canvas, which sets it; no part of the project.

    Signals carry what changed; `project_replaced` says that everything did (new, open,
    recover), and comes alone but for `analysis_changed`, `path_changed`, `dirty_changed`,
    `identity_changed`.
    """

    graph_changed = Signal(object)  # GraphDiff
    shown_changed = Signal(object)  # GraphDiff of `shown`; empty where it is within a folded group
    positions_changed = Signal(object)  # dict: node id -> (x, y) of those that moved
    recipe_changed = Signal()
    dataset_changed = Signal()
    target_changed = Signal()
    edits_changed = Signal()
    robustness_changed = Signal()
    analysis_changed = Signal(object)  # Analysis
    path_changed = Signal()
    dirty_changed = Signal(bool)
    project_replaced = Signal()
    selection_restored = Signal(object)  # Selection, by undo and redo
    fixed = Signal(object)  # list: node ids that a fix added or changed
    identity_changed = Signal()  # it is another project: opened, begun, or a copy of the last
    edited = Signal()  # after every edit, undo and redo
    saved = Signal()
    answer_wanted = Signal(object)  # Fix that needs one first

    def __init__(
        self,
        layers: Layers,
        *,
        datasets: Registry[DatasetSpec] | None = None,
        targets: Registry[TargetSpec] | None = None,
        state_folder: Path | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.layers = layers
        self._datasets = datasets if datasets is not None else Registry[DatasetSpec]({})
        self._targets = targets if targets is not None else Registry[TargetSpec]({})
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(_UNDO_LIMIT)
        self.writer = FileWriter(self)
        self._looker = FileWriter(self)  # a slow disk with images keeps no project from being saved
        folder = state_folder or data_home() / "open"
        self.disk = DiskFile(self.writer, folder, self._is_same)
        self.disk.changed.connect(self._report_dirty)
        self._state = Project()
        self.shown = Folding()
        self._blocks: tuple[Project, Blocks] | None = None
        self.project_id = ""
        self.selection: Selection = ((), ())
        self._saved_state: Project | None = self._state
        self._zoom = 1.0
        self._center: Position | None = None
        self.path: Path | None = None
        self.is_recovered = False
        self._origin: Path | None = None
        self._was_dirty = False
        self._found_facts: DatasetFacts | None = None
        self._listed_facts: DatasetFacts | None = None
        self._absent: tuple[Missing, ...] = ()
        self._unfetched: tuple[MissingWeights, ...] = ()
        self.fixes = FixFinder(self)
        self._analyse()

    # what it is --------------------------------------------------------------------------

    @property
    def project(self) -> Project:
        """The current project, with its identity and the place of the canvas."""
        view = replace(self._state.view, zoom=self._zoom, center=self._center)
        return replace(self._state, view=view, id=self.project_id)

    @property
    def graph(self) -> Graph:
        """The network."""
        return self._state.graph

    @property
    def recipe(self) -> TrainingRecipe:
        """How to train."""
        return self._state.recipe

    @property
    def target_limits(self) -> TargetLimits:
        """Limits of training where it is to run."""
        return limits_of(self._state.target, self._targets)

    @property
    def positions(self) -> Mapping[str, Position]:
        """Top-left corner of every node in scene pixels."""
        return self._state.view.positions

    @property
    def folded(self) -> frozenset[str]:
        """Names of the groups that are to be one card."""
        return self._state.view.folded

    @property
    def blocks(self) -> Blocks:
        """Places and sizes of what `shown` has."""
        if self._blocks is None or self._blocks[0] is not self._state:
            sizes = node_sizes(self.shown.graph, self.layers)  # of what is seen: that takes time
            self._blocks = self._state, Blocks.of(self.shown, self.positions, sizes)
        return self._blocks[1]

    @property
    def shown_positions(self) -> Mapping[str, Position]:
        """Top-left corner of every card of `shown` in scene pixels."""
        return self.positions if not self.shown.members else self.blocks.places

    @property
    def is_dirty(self) -> bool:
        """True when closing would lose something."""
        if self._saved_state is None or self.disk.state is DiskState.GONE:
            return True
        return self._state is not self._saved_state and self._state != self._saved_state

    def _is_same(self, project: Project) -> bool:
        """Whether a project is what is edited, or what was last saved, but for the canvas."""
        return any(
            own is not None and replace(own, id=self.project_id, view=project.view) == project
            for own in (self._state, self._saved_state)
        )

    @property
    def recovered_from(self) -> Path | None:
        """The file that a recovered, still unsaved project was an edit of, if any."""
        return self._origin if self.is_recovered else None

    @property
    def dataset_facts(self) -> DatasetFacts | None:
        """Shape and classes of the chosen data set, as far as they are known."""
        spec = self._datasets.get(self._state.dataset.key)
        known = DatasetFacts.of(spec, self._state.edits.classes)
        return self._found_facts or known or self._listed_facts

    @property
    def data_title(self) -> str:
        """The chosen data set in short; "" for one that this version does not know."""
        chosen = self._state.dataset
        spec = self._datasets.get(chosen.key)
        return "" if spec is None else spec.name_of(chosen.params)

    @property
    def input_shape(self) -> Shape | None:
        """The (height, width, channels) that a new Input gets; None where nothing is known."""
        return input_shape(self.dataset_facts, pretrained_shape(self.graph, pretrained_layer))

    def set_dataset_facts(self, facts: DatasetFacts | None) -> None:
        """Sets what a worker has found in the chosen data set; no undo step."""
        if facts != self._found_facts:
            self._found_facts = facts
            self._reanalyse()

    def look_for_data(self) -> None:
        """Looks soon, in another thread, whether the files of the data set and of pretrained
        weights are there, and what the names and sizes of the user's own images say: once, as
        listing a hundred thousand takes seconds.
        """
        project, keys = self._state, backbone_keys(self.graph)
        chosen, classes = project.dataset, project.edits.classes
        spec = self._datasets.get(chosen.key)
        if not keys and not has_to_be_there(spec, chosen.params):
            return
        found: list[_Look] = []
        listed, lists = self._listed_facts, not (self._listed_facts or self._found_facts)

        def done(_error: SaveError | None) -> None:
            now = self._state.dataset, self._state.edits.classes, backbone_keys(self.graph)
            known = self._absent, self._unfetched, self._listed_facts
            if found and now == (chosen, classes, keys) and found[0] != known:
                self._absent, self._unfetched, self._listed_facts = found[0]
                self._reanalyse()

        self._looker.write(lambda: found.append(look_at(project, spec, listed, lists=lists)), done)

    # how it changes --------------------------------------------------------------------

    def _push(self, text: str, after: Project, merge_key: Hashable = None) -> None:
        gone = after.view.folded - after.graph.groups.keys()
        if gone:
            after = replace(after, view=replace(after.view, folded=after.view.folded - gone))
        if after != self._state:
            if not self.project_id:
                self._set_identity(new_project_id())
            self.undo_stack.push(GraphEdit(text, self._state, after, self, merge_key))

    def return_to(self, state: Project) -> Project:
        """Undo and redo show a project again, with groups folded, and versions of the data edits,
        as they are now; returns the project that was shown.
        """
        left = self._state
        state = replace(state, data_versions=left.data_versions)
        self.show_state(seen_as(state, left, self.layers))
        return left

    def restore_selection(self, selection: Selection) -> None:
        """Selects what was selected at that state, also where it is folded differently now."""
        ids, edges = selection
        self.selection = self.shown.shown_ids(self.shown.layers_of(ids)), edges
        self.selection_restored.emit(self.selection)

    def _refold(self, folded: Collection[str]) -> None:
        """Folds groups; no step of undo, and no reason to save what is saved."""
        before, saved = self._state, self._saved_state
        after = folded_as(before, folded, self.layers)
        if saved is not None:
            is_saved = saved is before or saved == before
            self._saved_state = after if is_saved else seen_as(saved, after, self.layers)
        self.show_state(after)

    def show_state(self, state: Project) -> None:
        """Makes `state` the document's and emits a signal for each difference."""
        old, self._state = self._state, state
        is_other = self._forget_facts(old)
        if self._forget_other_weights(old.graph) or is_other:
            self.look_for_data()
        change = diff(old.graph, state.graph)
        shown_before, self.shown = self.shown, Folding.of(state.graph, state.view.folded)
        is_refolded = shown_before.members.keys() != self.shown.members.keys()
        signals = {
            "recipe": self.recipe_changed,
            "dataset": self.dataset_changed,
            "target": self.target_changed,
            "edits": self.edits_changed,
            "robustness": self.robustness_changed,
        }
        changed = [signals[key] for key in signals if getattr(old, key) != getattr(state, key)]
        if change or changed:
            self._analyse()
        if change:
            self.graph_changed.emit(change)
        if change or is_refolded:
            self.shown_changed.emit(diff(shown_before.graph, self.shown.graph))
        moved = _moved(old.view.positions, state.view.positions)
        if moved:
            self.positions_changed.emit(moved)
        for signal in changed:
            signal.emit()
        if change or changed:
            self.analysis_changed.emit(self.analysis)
        self._report_dirty()
        self.edited.emit()

    def _forget_facts(self, old: Project) -> bool:
        """Drops what is known of other images, or of other classes; whether they are other ones."""
        data, before = self._state.dataset, old.dataset
        is_other = (before, old.edits.classes) != (data, self._state.edits.classes)
        if before != data:
            self._absent = ()
        if before != data or old.edits != self._state.edits:  # fewer images: looked at again
            self._found_facts = None
        if is_other:
            self._listed_facts = None
        return is_other

    def _forget_other_weights(self, old: Graph) -> bool:
        """Whether the network starts with the weights of others; what is missing of those that it
        has no more is no problem.
        """
        if old is self.graph:  # folded, or another recipe: the rest takes time
            return False
        keys = backbone_keys(self.graph)
        self._unfetched = tuple(each for each in self._unfetched if each.key in keys)
        return keys != backbone_keys(old)

    def _set_identity(self, project_id: str) -> None:
        """Not a part of the states that undo goes back to: it is of the file, not of an edit."""
        if project_id != self.project_id:
            self.project_id = project_id
            self.identity_changed.emit()

    def _replace(
        self,
        project: Project,
        path: Path | None,
        stamp: FileStamp | None = None,
        *,
        origin: Path | None = None,
        is_recovered: bool = False,
    ) -> None:
        sizes = node_sizes(project.graph, self.layers)
        view = project.view
        places = placement.complete(project.graph, view.positions, sizes, view.folded)
        self.undo_stack.clear()
        self.selection = ((), ())
        before = self._state
        self._state = replace(with_places(project, places), id="")
        self._forget_facts(before)
        self._forget_other_weights(before.graph)
        self.shown = Folding.of(self.graph, self.folded)
        self.look_for_data()
        self._saved_state = None if is_recovered else self._state
        self._zoom, self._center = project.view.zoom, project.view.center
        self.is_recovered = is_recovered
        self.path, self._origin = path, path or origin
        self.disk.take(path, stamp)
        self._analyse()
        was = self.project_id
        self.project_id = project.id or new_project_id()
        self.project_replaced.emit()
        self.analysis_changed.emit(self.analysis)
        self.path_changed.emit()
        if self.project_id != was:
            self.identity_changed.emit()
        self._report_dirty()

    def _take_saved(self, state: Project, path: Path, stamp: FileStamp, project_id: str) -> None:
        self._saved_state = state
        self.is_recovered = False
        self._origin = path
        self.disk.take(path, stamp)
        self._set_identity(project_id)
        if path != self.path:
            self.path = path
            self.path_changed.emit()
        self._report_dirty()
        self.saved.emit()

    def _report_dirty(self) -> None:
        if self.is_dirty != self._was_dirty:
            self._was_dirty = self.is_dirty
            self.dirty_changed.emit(self._was_dirty)

    def _reanalyse(self) -> None:
        self._analyse()
        self.analysis_changed.emit(self.analysis)

    def _analyse(self) -> None:
        chosen = self._state.dataset
        spec = self._datasets.get(chosen.key)
        self.analysis: Analysis = analyse(
            self.graph,
            self.layers,
            recipe=self.recipe,
            dataset=self.dataset_facts,
            limits=self.target_limits,
            missing=(*unset_data(spec, chosen.params), *self._absent, *self._unfetched),
            pretrained=pretrained_layer,
        )
        self.fixes.begin(self.analysis.problems, len(self.graph.nodes))


def _moved(old: Mapping[str, Position], new: Mapping[str, Position]) -> dict[str, Position]:
    return {key: place for key, place in new.items() if old.get(key) != place}
