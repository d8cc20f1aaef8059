"""Dialogs of series: folds, repeated seeds and sweeps; opens each of them once over a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QSizePolicy,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from workbench.client.background import Background
from workbench.core.evaluation.confusion import Confusion
from workbench.core.format import plural, share
from workbench.core.params import IntParam
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.core.training.fields.basics import MAX_FOLDS
from workbench.errors import ParamError, SaveError, UsageError, WorkbenchError
from workbench.gui.common.confusion_matrix import POINT_AT, ConfusionMatrix
from workbench.gui.common.context import WindowContext
from workbench.gui.forms.number_field import NumberField
from workbench.gui.kit.buttons import SegmentedSwitch, button
from workbench.gui.kit.dialogs import ask_choice
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.widgets import WaitLabel
from workbench.gui.train.series.sweep_plan import SweepPlanPage
from workbench.gui.train.series.sweep_result import SweepResultPage
from workbench.runs.environment import refuse_unready
from workbench.runs.library.series import (
    MAX_RUNS,
    FoldPlan,
    FoldResult,
    Plan,
    Trained,
    begin_series,
    call_off,
    newest_series,
    series_result,
    spread_words,
)
from workbench.runs.library.sweep import sweepable, with_trial
from workbench.runs.library.sweep_result import CombinationResult, SweepResult, sweep_result
from workbench.runs.naming import value_words
from workbench.runs.state import queue
from workbench.runs.state.outcome import outcome_words
from workbench.runs.trust import UnknownPlaceError, check_known, remember

# series dialog -------------------------------------------------------------------------------
# What the dialogs of series share: a plan is queued, and the newest series looked at.

R = TypeVar("R")

_LOOK_MS = 1_000


class SeriesDialog(QDialog, Generic[R]):
    """A dialog of the series of one kind; R is what a look at one gives.

    Attributes:
        close_button: For the last line.
    """

    def __init__(
        self,
        context: WindowContext,
        title: str,
        size_px: tuple[int, int],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"{title} — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(*size_px)
        self._document, self._library = context.document, context.library
        self._background = Background(self, max_threads=2)
        self._series = ""
        self._looks = self._shown = 0  # the newest begun; the newest that counts
        self.close_button = button("Close")
        self.close_button.clicked.connect(self.reject)
        self._timer = QTimer(self, singleShot=True, interval=_LOOK_MS)  # several changes, one look
        self._timer.timeout.connect(self._look)
        self._library.runs_changed.connect(self._look_soon)
        self._document.identity_changed.connect(self._on_other_project)

    # what each dialog is -----------------------------------------------------------------

    def reader(self, series: str) -> Callable[[], tuple[str, R]]:
        """Reads, in another thread, a series, "" for the project's newest; returns which, "" for
        none, and what it has given.
        """
        raise NotImplementedError

    def show_found(self, found: R, *, is_first: bool) -> None:
        """Shows what a look has given; `is_first` where no series was shown before."""
        raise NotImplementedError

    def show_nothing(self) -> None:
        """Shows that there is no series, until a look has found one."""
        raise NotImplementedError

    def set_queuing(self, *, is_queuing: bool) -> None:
        """Sets whether runs are being queued: until then nothing else can be."""
        raise NotImplementedError

    def show_begun(self) -> None:
        """A series is in the queue."""
        raise NotImplementedError

    def show_failure(self, words: str) -> None:
        """Shows why nothing was queued."""
        raise NotImplementedError

    # beginning a series ------------------------------------------------------------------

    def begin(self, plan: Plan, *targets: Choice) -> None:
        """Queues the runs of a plan, on these targets, or on the project's own."""
        path, home = self._document.path, self._library.home
        title = path.name.removesuffix(PROJECT_SUFFIX) if path else plan.project.title
        self.set_queuing(is_queuing=True)

        def work() -> str:
            wanted = targets or (plan.project.target,)
            check_known(*wanted, plan.project.dataset)
            for target in wanted:
                refuse_unready(target)
            where = str(path) if path else ""
            series = begin_series(plan, title=title, project_path=where, home=home)
            queue.start_next(home)
            return series

        def fail(error: WorkbenchError) -> None:
            self._on_failed(error, lambda: self.begin(plan, *targets))

        self._background.run(work, self._on_begun, fail)

    def _on_begun(self, series: str) -> None:
        self._take_series(series)
        self.set_queuing(is_queuing=False)
        self.show_begun()
        self._library.refresh()
        self._look()

    def _on_failed(self, error: WorkbenchError, again: Callable[[], None]) -> None:
        self.set_queuing(is_queuing=False)
        self.show_failure(str(error))
        if not isinstance(error, UnknownPlaceError):
            return
        words = f"{error.fix} Nothing has been sent there so far."
        choices = (f"Connect to {error.where}", "Cancel")
        if ask_choice(self, error.what, words, choices, default=1) == 0:
            try:
                remember(*error.targets)
            except SaveError as unsaved:
                self.show_failure(str(unsaved))
                return
            again()

    # looking at it -----------------------------------------------------------------------

    def _on_other_project(self) -> None:
        self._take_series("")
        self.show_nothing()
        self._look()

    def _take_series(self, series: str) -> None:
        """Takes another series, "" for the project's newest; looks that are under way no longer
        count.
        """
        self._series, self._shown = series, self._looks

    def _look_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _look(self) -> None:
        """Reads the runs of the series in another thread."""
        self._looks += 1
        number = self._looks
        read = self.reader(self._series)
        self._background.run(read, lambda found: self._on_looked(number, *found))

    def _on_looked(self, number: int, series: str, found: R) -> None:
        if number <= self._shown:
            return  # two are under way at a time: an older one may end later
        self._shown = number
        is_first = not self._series and bool(series)
        self._series = series
        self.show_found(found, is_first=is_first)

    def done(self, result: int) -> None:
        """However it is closed: it is gone from the screen at once, and deleted once nothing reads
        or queues any more. The runs go on.
        """
        self._timer.stop()
        self.hide()
        self._background.close_soon(partial(super().done, result))


# sweep dialog --------------------------------------------------------------------------------
# The sweep of the project: what is compared, and what that has given.

_SIZE_PX_SWEEP_DIALOG = (980, 660)
_PAGES = (("plan", "Plan"), ("result", "Result"))
_ABOUT_SWEEP_DIALOG = (
    "The project is trained with each combination of values; its images and split stay."
)

_Found = tuple[SweepResult, dict[str, str]]
"""A result, and the titles of settings by key."""


class SweepDialog(SeriesDialog[_Found]):
    """Two pages: the plan, and the result of the project's newest sweep.

    Attributes:
        plan, results: The pages.
        pages: The switch between them.
    """

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        super().__init__(context, "Sweep", _SIZE_PX_SWEEP_DIALOG, parent)
        self.pages = SegmentedSwitch(_PAGES)
        self.plan = SweepPlanPage(context, self._background)
        self.results = SweepResultPage(context.theme, self._background)
        self._stack, self._footers = QStackedWidget(), QStackedWidget()
        self._build()
        self._connect()
        self._show_page("plan")
        self._look()

    def _build(self) -> None:
        for page in (self.plan, self.results):
            self._stack.addWidget(page)
        head = row(
            self.pages, (plain_label(_ABOUT_SWEEP_DIALOG, role="dim", wrap=True), 1), spacing=14
        )
        for footer in (self.plan.footer, self.results.footer):
            self._footers.addWidget(footer)
        self._footers.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        end = row((self._footers, 1), self.close_button, spacing=8)
        column(head, (self._stack, 1), end, parent=self, margins=(16, 16, 16, 14), spacing=12)

    def _connect(self) -> None:
        self.pages.chosen.connect(self._show_page)
        self.plan.start_asked.connect(lambda plan: self.begin(plan, *plan.targets))
        self.results.use_asked.connect(self._on_use)
        self.results.run_asked.connect(self._library.select)
        self.results.stop_asked.connect(self._on_stop)

    def _show_page(self, key: str) -> None:
        self.pages.set_current(key)
        for stack in (self._stack, self._footers):
            stack.setCurrentIndex(0 if key == "plan" else 1)

    # the runs ----------------------------------------------------------------------------

    def set_queuing(self, *, is_queuing: bool) -> None:
        self.plan.set_queuing(is_queuing=is_queuing)

    def show_begun(self) -> None:
        self.plan.check_soon()
        self._show_page("result")

    def show_failure(self, words: str) -> None:
        self.plan.words.say(words, is_bad=True)

    def _on_stop(self) -> None:
        series, home = self.results.result.series, self._library.home
        self.results.said.setText("Stopping… The weights are saved after the current step.")

        def show(stopping: list[object]) -> None:
            words = f"{plural(len(stopping), 'run')} stopped. " if stopping else ""
            self.results.said.setText(f"{words}Start the same plan again to go on.")
            self._library.refresh()
            self._look_soon()

        def fail(error: WorkbenchError) -> None:
            self.results.said.setText(str(error))

        self._background.run(lambda: list[object](call_off(series, home)), show, fail)

    # the result --------------------------------------------------------------------------

    def reader(self, series: str) -> Callable[[], tuple[str, _Found]]:
        project, home = self._document.project, self._library.home

        def read() -> tuple[str, _Found]:
            found = series or newest_series(project.id, home, is_sweep=True)
            result = sweep_result(found, home) if found else SweepResult()
            return found, (result, {each.key: each.words for each in sweepable(project)})

        return read

    def show_found(self, found: _Found, *, is_first: bool) -> None:
        self.results.show_result(*found)
        if is_first and not self.plan.rows:
            self._show_page("result")

    def show_nothing(self) -> None:
        self.results.show_result(SweepResult(), {})

    # what is found is used ---------------------------------------------------------------

    def _on_use(self, chosen: CombinationResult) -> None:
        run = chosen.runs[0].trained.run
        self._background.run(
            lambda: run.request().to_project(),
            lambda trial: self._use(trial, chosen.values),
            lambda error: self.results.said.setText(str(error)),
        )

    def _use(self, trial: Project, values: dict[str, str]) -> None:
        document = self._document
        try:
            project = with_trial(document.project, trial, values)
        except UsageError as error:
            self.results.said.setText(str(error))
            return
        words = value_words(project, values)
        document.take_trial(project.recipe, project.graph, f"Use {words}")
        self.results.said.setText(f"The project now has {words}. Undo reverts this.")

    def done(self, result: int) -> None:
        """A check that is under way ends before its next combination."""
        self.plan.stop_checking()
        super().done(result)


# cross validation ----------------------------------------------------------------------------
# Cross-validation and repeated seeds of the project: queues the runs, shows mean and spread.

_FOLDS = IntParam("folds", 5, "", minimum=1, maximum=MAX_FOLDS)
_SEEDS = IntParam("seeds", 1, "", minimum=1, maximum=MAX_RUNS)
_COLUMNS = ("Run", "State", "Validation accuracy", "Test accuracy")
_SIZE_PX = (860, 640)
_ABOUT = (
    "Each fold is held out for validation once, the others train; 1 fold keeps the split of the "
    "project. The test images stay the same. The runs wait in the queue and go on without this "
    "window."
)
_EMPTY = "Choose how many folds and seeds, then start: the runs and their mean appear here."


class CrossValidationDialog(SeriesDialog[FoldResult]):
    """Folds and seeds above, the runs of the project's newest series below.

    Attributes:
        folds, seeds: The numbers that are typed.
        start: Queues the runs.
        tree: A line a run.
        figures: Mean and standard deviation.
        matrix: The confusion matrices of the completed runs added up.
    """

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        super().__init__(context, "Cross-validate", _SIZE_PX, parent)
        self.folds, self.seeds = NumberField(_FOLDS), NumberField(_SEEDS)
        self.start = button("Start", role="primary")
        self.words = WaitLabel()
        self.tree = QTreeWidget()
        self.figures = plain_label(role="strong", wrap=True)
        self.notes = plain_label(role="dim", wrap=True)
        self.matrix = ConfusionMatrix(context.theme)
        self.hover = plain_label(role="dim")
        self._build()
        self._connect()
        self.show_nothing()
        self._look()

    def _build(self) -> None:
        self.folds.setAccessibleName("Folds")
        self.seeds.setAccessibleName("Seeds")
        self.tree.setHeaderLabels([*_COLUMNS])
        self.tree.setAccessibleName("Runs")
        self.tree.setRootIsDecorated(False)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        labels = (plain_label("Folds"), plain_label("Seeds"))
        for label, field in zip(labels, (self.folds, self.seeds), strict=True):
            label.setBuddy(field)
        line = row(labels[0], self.folds, labels[1], self.seeds, self.start, STRETCH, spacing=12)
        figures = QWidget()
        column((self.tree, 1), self.figures, self.notes, parent=figures, spacing=8)
        self._beside = QWidget()
        column((self.matrix, 1), self.hover, parent=self._beside, spacing=4)
        below = row((figures, 3), (self._beside, 2), spacing=16)
        about = plain_label(_ABOUT, role="dim", wrap=True)
        end = row(STRETCH, self.close_button)
        parts = (about, line, self.words, (below, 1), end)
        column(*parts, parent=self, margins=(16, 16, 16, 14), spacing=12)

    def _connect(self) -> None:
        self.start.clicked.connect(self._on_start)
        self.matrix.hovered.connect(lambda words: self.hover.setText(words or POINT_AT))
        for field in (self.folds, self.seeds):
            field.entered.connect(lambda value, field=field: self._on_entered(field, value))

    def _on_entered(self, field: NumberField, value: object) -> None:
        if isinstance(value, int | float):
            field.set_value(value)
        self._plan()

    def _plan(self) -> FoldPlan | None:
        """The series that is typed; None, with the reason shown, where there is none."""
        try:
            folds, seeds = int(self.folds.checked() or 1), int(self.seeds.checked() or 1)
        except ParamError as error:
            self.words.say(f"Expected: {error.expected}.", is_bad=True)
            return None
        if not 1 < folds * seeds <= MAX_RUNS:
            self.words.say(f"Expected: 2 to {MAX_RUNS} runs, folds × seeds.", is_bad=True)
            return None
        self.words.say(f"{plural(folds * seeds, 'run')}.")
        return FoldPlan(self._document.project, folds if folds > 1 else 0, seeds)

    def _on_start(self) -> None:
        plan = self._plan()
        if plan is None:
            return
        if reason := self._document.analysis.reason:
            self.words.say(reason, is_bad=True)
            return
        self.begin(plan)

    def set_queuing(self, *, is_queuing: bool) -> None:
        for part in (self.start, self.folds, self.seeds):
            part.setEnabled(not is_queuing)
        if is_queuing:
            self.words.wait_for("Queuing the runs")

    def show_begun(self) -> None:
        self.words.say("")

    def show_failure(self, words: str) -> None:
        self.words.say(words, is_bad=True)

    def reader(self, series: str) -> Callable[[], tuple[str, FoldResult]]:
        project_id, home = self._document.project.id, self._library.home

        def read() -> tuple[str, FoldResult]:
            found = series or newest_series(project_id, home)
            return found, series_result(found, home) if found else FoldResult(())

        return read

    def show_found(self, found: FoldResult, *, is_first: bool) -> None:
        del is_first  # there is one page
        self.show_result(found)

    def show_nothing(self) -> None:
        self.show_result(FoldResult(()))

    def show_result(self, result: FoldResult) -> None:
        """Shows what a series has given so far."""
        self.tree.clear()
        self.tree.addTopLevelItems([_item(each) for each in result.runs])
        self.figures.setText(_figures(result))
        self.notes.setText(" ".join(result.notes()))
        confusion = result.confusion
        is_there = confusion is not None
        counts = np.zeros((0, 0), np.int64) if confusion is None else confusion
        names = list(result.classes) if is_there else []
        self.matrix.set_matrix(names, Confusion.of_dense(counts))
        self.hover.setText(POINT_AT if is_there else "")
        self._beside.setVisible(is_there)  # until then the table has all of the width


def _item(each: Trained) -> QTreeWidgetItem:
    figures = [share(value) if value is not None else "" for value in _values(each)]
    item = QTreeWidgetItem([each.label, outcome_words(each.outcome), *figures])
    for place in range(len(_COLUMNS)):
        item.setToolTip(place, plain_tip(item.text(place)))
    item.setData(0, Qt.ItemDataRole.UserRole, Path(each.run.path))
    return item


def _values(each: Trained) -> Sequence[float | None]:
    return (each.val_accuracy, each.test_accuracy)


def _figures(result: FoldResult) -> str:
    if not result.runs:
        return _EMPTY
    lines = [f"{result.num_done} of {plural(len(result.runs), 'run')} completed"]
    named = (("Validation", result.val_accuracy), ("Test", result.test_accuracy))
    lines += [
        f"{name} accuracy {spread_words(spread)}, mean ± standard deviation"
        if spread.count > 1
        else f"{name} accuracy {spread_words(spread)}"
        for name, spread in named
        if spread is not None
    ]
    return "\n".join(lines)


# controller ----------------------------------------------------------------------------------
# Opens the dialogs of series: one of a kind over a window.

_KINDS: dict[str, type[CrossValidationDialog | SweepDialog]] = {
    "cross_validation": CrossValidationDialog,
    "sweep": SweepDialog,
}


class SeriesController(QObject):
    """Shows a dialog, the one that is open where there is one.

    Args:
        context: The parts that all views work with.
        view: The view, in whose window the dialogs are.
    """

    def __init__(self, context: WindowContext, view: QWidget) -> None:
        super().__init__(view)
        self._context = context
        self._view = view

    def show(self, key: str) -> QDialog:
        """Shows the dialog of "cross_validation" or "sweep"."""
        kind, window = _KINDS[key], self._view.window()
        found = [each for each in window.findChildren(kind) if each.isVisible()]
        dialog: QDialog = found[0] if found else kind(self._context, window)
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        return dialog
