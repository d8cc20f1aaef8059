"""The sweep of the project: what is compared, and what that has given."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QDialog, QSizePolicy, QStackedWidget, QWidget

from workbench.client.background import Background
from workbench.core.format import plural
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.errors import SaveError, UsageError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.buttons import SegmentedSwitch, button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import column, row
from workbench.gui.kit.messages import ask_choice
from workbench.gui.train.series.sweep_plan import SweepPlanPage
from workbench.gui.train.series.sweep_result import SweepResultPage
from workbench.runs.environment import refuse_unready
from workbench.runs.library.series import begin_series, call_off, newest_series
from workbench.runs.library.sweep import SweepPlan, with_trial
from workbench.runs.library.sweep_axes import sweepable
from workbench.runs.library.sweep_result import CombinationResult, SweepResult, sweep_result
from workbench.runs.naming import value_words
from workbench.runs.places import UnknownPlaceError, check_known, remember
from workbench.runs.state import queue

_LOOK_MS = 1_000
_SIZE_PX = (980, 660)
_PAGES = (("plan", "Plan"), ("result", "Result"))
_ABOUT = "The project is trained with each combination of values; its images and split stay."


class SweepDialog(QDialog):
    """Two pages: the plan, and the result of the project's newest sweep.

    Attributes:
        plan, results: The pages.
        pages: The switch between them.
    """

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Sweep — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(*_SIZE_PX)
        self._document, self._library = context.document, context.library
        self._background = Background(self, max_threads=2)
        self._series = ""
        self._looks = self._shown = 0  # the newest begun; the newest that counts
        self.pages = SegmentedSwitch(_PAGES)
        self.plan = SweepPlanPage(context, self._background)
        self.results = SweepResultPage(context.theme, self._background)
        self.close_button = button("Close")
        self._stack, self._footers = QStackedWidget(), QStackedWidget()
        self._timer = QTimer(self, singleShot=True, interval=_LOOK_MS)
        self._build()
        self._connect()
        self._show_page("plan")
        self._look()

    def _build(self) -> None:
        for page in (self.plan, self.results):
            self._stack.addWidget(page)
        head = row(self.pages, (plain_label(_ABOUT, role="dim", wrap=True), 1), spacing=14)
        for footer in (self.plan.footer, self.results.footer):
            self._footers.addWidget(footer)
        self._footers.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        end = row((self._footers, 1), self.close_button, spacing=8)
        column(head, (self._stack, 1), end, parent=self, margins=(16, 16, 16, 14), spacing=12)

    def _connect(self) -> None:
        self.pages.chosen.connect(self._show_page)
        self.close_button.clicked.connect(self.reject)
        self.plan.start_asked.connect(self._start)
        self.results.use_asked.connect(self._on_use)
        self.results.run_asked.connect(self._library.select)
        self.results.stop_asked.connect(self._on_stop)
        self._timer.timeout.connect(self._look)
        self._library.runs_changed.connect(self._look_soon)
        self._document.identity_changed.connect(self._on_other_project)

    def _show_page(self, key: str) -> None:
        self.pages.set_current(key)
        for stack in (self._stack, self._footers):
            stack.setCurrentIndex(0 if key == "plan" else 1)

    # the runs ----------------------------------------------------------------------------

    def _start(self, plan: SweepPlan) -> None:
        path, home = self._document.path, self._library.home
        title = path.name.removesuffix(PROJECT_SUFFIX) if path else plan.project.title
        targets = plan.targets or (plan.project.target,)
        self.plan.set_queuing(is_queuing=True)

        def work() -> str:
            for target in targets:
                check_known(target)
                refuse_unready(target)
            where = str(path) if path else ""
            series = begin_series(plan, title=title, project_path=where, home=home)
            queue.start_next(home)
            return series

        self._background.run(work, self._on_begun, lambda error: self._on_failed(error, plan))

    def _on_begun(self, series: str) -> None:
        self._take_series(series)
        self.plan.set_queuing(is_queuing=False)
        self.plan.check_soon()
        self._show_page("result")
        self._library.refresh()
        self._look()

    def _on_failed(self, error: WorkbenchError, plan: SweepPlan) -> None:
        self.plan.set_queuing(is_queuing=False)
        self.plan.words.say(str(error), is_bad=True)
        if not isinstance(error, UnknownPlaceError) or error.target is None:
            return
        words = f"{error.fix} Nothing has been sent there so far."
        choices = (f"Connect to {error.where}", "Cancel")
        if ask_choice(self, error.what, words, choices, default=1) == 0:
            try:
                remember(error.target)
            except SaveError as unsaved:
                self.plan.words.say(str(unsaved), is_bad=True)
                return
            self._start(plan)

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

    def _on_other_project(self) -> None:
        self._take_series("")
        self.results.show_result(SweepResult(), {})
        self._look()

    def _take_series(self, series: str) -> None:
        """Another series, "" for the project's newest; looks that are under way no longer count."""
        self._series, self._shown = series, self._looks

    def _look_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _look(self) -> None:
        """Reads the runs of the series in another thread."""
        project, home, series = self._document.project, self._library.home, self._series
        self._looks += 1
        number = self._looks

        def work() -> tuple[SweepResult, dict[str, str]]:
            found = series or newest_series(project.id, home, is_sweep=True)
            result = sweep_result(found, home) if found else SweepResult()
            return result, {each.key: each.words for each in sweepable(project)}

        self._background.run(work, lambda found: self._on_looked(number, *found))

    def _on_looked(self, number: int, result: SweepResult, titles: dict[str, str]) -> None:
        if number <= self._shown:
            return  # two are under way at a time: an older one may end later
        self._shown = number
        is_first = not self._series and bool(result.series)
        self._series = result.series
        self.results.show_result(result, titles)
        if is_first and not self.plan.rows:
            self._show_page("result")

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
        """However it is closed: it is gone from the screen at once, and deleted once nothing reads
        or queues any more. The runs go on.
        """
        self._timer.stop()
        self.plan.stop_checking()
        self.hide()
        self._background.close_soon(partial(super().done, result))
