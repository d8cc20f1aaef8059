"""The sweep of the project: what is compared, and what that has given."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from workbench.core.format import plural
from workbench.core.projects.project import Project
from workbench.errors import UsageError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.buttons import SegmentedSwitch
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import column, row
from workbench.gui.train.series.series_dialog import SeriesDialog
from workbench.gui.train.series.sweep_plan import SweepPlanPage
from workbench.gui.train.series.sweep_result import SweepResultPage
from workbench.runs.library.series import call_off, newest_series
from workbench.runs.library.sweep import with_trial
from workbench.runs.library.sweep_axes import sweepable
from workbench.runs.library.sweep_result import CombinationResult, SweepResult, sweep_result
from workbench.runs.naming import value_words

_SIZE_PX = (980, 660)
_PAGES = (("plan", "Plan"), ("result", "Result"))
_ABOUT = "The project is trained with each combination of values; its images and split stay."

_Found = tuple[SweepResult, dict[str, str]]
"""A result, and the titles of settings by key."""


class SweepDialog(SeriesDialog[_Found]):
    """Two pages: the plan, and the result of the project's newest sweep.

    Attributes:
        plan, results: The pages.
        pages: The switch between them.
    """

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        super().__init__(context, "Sweep", _SIZE_PX, parent)
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
        head = row(self.pages, (plain_label(_ABOUT, role="dim", wrap=True), 1), spacing=14)
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
