"""The machine below the document: state, undo stack, analysis and signals.

Each edit makes a new Project; undo shows the one before again. After each change shapes,
costs and problems are computed anew, before any signal is sent: whoever hears of a change
finds `analysis`, `positions` and `graph` in step.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from workbench.core.checks.analysis import Analysis, DatasetFacts, analyse
from workbench.core.network.diff import diff
from workbench.core.network.graph import Graph
from workbench.core.network.layout import Position, node_sizes
from workbench.core.projects.project import Project, View
from workbench.core.projects.target_text import limits_of
from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec, LayerSpec, TargetLimits, TargetSpec
from workbench.core.training.recipe import TrainingRecipe
from workbench.document import placement
from workbench.document.edits import GraphEdit
from workbench.document.file_writer import FileWriter

_UNDO_LIMIT = 1000


class EditedProject(QObject):
    """A project that is edited through an undo stack.

    Args:
        layers: The layer types there are.
        datasets: The data sets there are: the one chosen tells shape and classes.
        targets: The places to train there are: the one chosen tells how it suits the recipe.

    Signals carry what changed; `project_replaced` says that everything did (new, open,
    recover), and comes alone but for `analysis_changed`, `path_changed`, `dirty_changed`.
    """

    graph_changed = Signal(object)  # GraphDiff
    positions_changed = Signal(object)  # dict: node id -> (x, y) of those that moved
    recipe_changed = Signal()
    dataset_changed = Signal()
    target_changed = Signal()
    analysis_changed = Signal(object)  # Analysis
    path_changed = Signal()
    dirty_changed = Signal(bool)
    project_replaced = Signal()
    edited = Signal()  # after every edit, undo and redo
    saved = Signal()

    def __init__(
        self,
        layers: Registry[LayerSpec],
        *,
        datasets: Registry[DatasetSpec] | None = None,
        targets: Registry[TargetSpec] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._layers = layers
        self._datasets = datasets if datasets is not None else Registry[DatasetSpec]({})
        self._targets = targets if targets is not None else Registry[TargetSpec]({})
        self._undo_stack = QUndoStack(self)
        self._undo_stack.setUndoLimit(_UNDO_LIMIT)
        self._writer = FileWriter(self)
        self._state = Project()
        self._saved_state: Project | None = self._state
        self._zoom = 1.0
        self._center: Position | None = None
        self._path: Path | None = None
        self._is_recovered = False
        self._recovered_from: Path | None = None
        self._was_dirty = False
        self._told_facts: DatasetFacts | None = None
        self._analysis = self._analyse()

    # what it is --------------------------------------------------------------------------

    @property
    def project(self) -> Project:
        """The project as it stands, with the place of the canvas."""
        view = View(self._state.view.positions, self._zoom, self._center)
        return replace(self._state, view=view)

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
        """What training must obey where it is to run."""
        return limits_of(self._state.target, self._targets)

    @property
    def positions(self) -> Mapping[str, Position]:
        """Top-left corner of every node in scene pixels."""
        return self._state.view.positions

    @property
    def analysis(self) -> Analysis:
        """Shapes, costs and problems of the project as it stands."""
        return self._analysis

    @property
    def path(self) -> Path | None:
        """The project's file; None before the first save."""
        return self._path

    @property
    def is_dirty(self) -> bool:
        """True when closing would lose something."""
        return self._saved_state is None or (
            self._state is not self._saved_state and self._state != self._saved_state
        )

    @property
    def is_recovered(self) -> bool:
        """True for a project that came back after a crash and is not saved since."""
        return self._is_recovered

    @property
    def recovered_from(self) -> Path | None:
        """The file that a recovered, still unsaved project was an edit of, if any."""
        return self._recovered_from if self._is_recovered else None

    @property
    def undo_stack(self) -> QUndoStack:
        """The steps; the window makes its undo and redo actions from it."""
        return self._undo_stack

    @property
    def layers(self) -> Registry[LayerSpec]:
        """The layer types there are."""
        return self._layers

    @property
    def writer(self) -> FileWriter:
        """Where all files of the document are written, in order."""
        return self._writer

    @property
    def dataset_facts(self) -> DatasetFacts | None:
        """Shape and classes of the chosen data set, as far as they are known."""
        return self._told_facts or DatasetFacts.of(self._datasets.get(self._state.dataset.key))

    def set_dataset_facts(self, facts: DatasetFacts | None) -> None:
        """Tells what the chosen data set holds (a worker has looked); no undo step."""
        if facts != self._told_facts:
            self._told_facts = facts
            self._reanalyse()

    # how it changes --------------------------------------------------------------------

    def _push(self, text: str, after: Project, merge_key: Hashable = None) -> None:
        if after != self._state:
            self._undo_stack.push(GraphEdit(text, self._state, after, self._show, merge_key))

    def _show(self, state: Project) -> None:
        """Makes `state` the document's and tells what is different."""
        old, self._state = self._state, state
        if old.dataset != state.dataset:
            self._told_facts = None
        change = diff(old.graph, state.graph)
        told = ("recipe", "dataset", "target")
        asks_analysis = bool(change) or any(
            getattr(old, key) != getattr(state, key) for key in told
        )
        if asks_analysis:
            self._analysis = self._analyse()
        if change:
            self.graph_changed.emit(change)
        moved = _moved(old.view.positions, state.view.positions)
        if moved:
            self.positions_changed.emit(moved)
        for attribute, signal in (
            ("recipe", self.recipe_changed),
            ("dataset", self.dataset_changed),
            ("target", self.target_changed),
        ):
            if getattr(old, attribute) != getattr(state, attribute):
                signal.emit()
        if asks_analysis:
            self.analysis_changed.emit(self._analysis)
        self._tell_dirty()
        self.edited.emit()

    def _replace(self, project: Project, path: Path | None, *, is_recovered: bool = False) -> None:
        sizes = node_sizes(project.graph, self._layers)
        places = placement.complete(project.graph, project.view.positions, sizes)
        self._undo_stack.clear()
        if project.dataset != self._state.dataset:
            self._told_facts = None
        self._state = with_places(project, places)
        self._saved_state = None if is_recovered else self._state
        self._zoom, self._center = project.view.zoom, project.view.center
        self._is_recovered = is_recovered
        self._path = path
        self._analysis = self._analyse()
        self.project_replaced.emit()
        self.analysis_changed.emit(self._analysis)
        self.path_changed.emit()
        self._tell_dirty()

    def _take_saved(self, state: Project, path: Path) -> None:
        self._saved_state = state
        self._is_recovered = False
        if path != self._path:
            self._path = path
            self.path_changed.emit()
        self._tell_dirty()
        self.saved.emit()

    def _tell_dirty(self) -> None:
        if self.is_dirty != self._was_dirty:
            self._was_dirty = self.is_dirty
            self.dirty_changed.emit(self._was_dirty)

    def _reanalyse(self) -> None:
        self._analysis = self._analyse()
        self.analysis_changed.emit(self._analysis)

    def _analyse(self) -> Analysis:
        facts = self.dataset_facts
        return analyse(
            self._state.graph,
            self._layers,
            recipe=self._state.recipe,
            dataset=facts,
            limits=self.target_limits,
        )


def with_places(state: Project, places: Mapping[str, Position]) -> Project:
    """A state with other positions; zoom and center are no part of a state."""
    return replace(state, view=View(dict(places)))


def _moved(old: Mapping[str, Position], new: Mapping[str, Position]) -> dict[str, Position]:
    return {key: place for key, place in new.items() if old.get(key) != place}
