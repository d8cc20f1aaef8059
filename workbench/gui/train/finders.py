"""The learning-rate and batch-size finders.

A search is a request to the worker for long work, one at a time; its result is one undoable edit.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QStackedWidget, QWidget

from workbench.client.service_process import Handlers, Question
from workbench.core.format import count, rate_text
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import project_text
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label, set_role
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import SteadyBar, WaitLabel
from workbench.gui.plots.sweep_plot import (
    BatchSizePlot,
    BatchSizePoint,
    LearningRatePlot,
    TrialPlot,
    TrialPoint,
)
from workbench.protocol.bases import Answer, Request
from workbench.protocol.find import (
    BatchSizeFound,
    BatchSizeTried,
    FindBatchSize,
    FindLearningRate,
    LearningRateFound,
    LearningRateTrial,
    LearningRateTried,
)
from workbench.protocol.messages import Progress

# finder --------------------------------------------------------------------------------------
# Finds a number of the recipe by trying: a live chart, what was found, and one click to use it.
#
# The trying is done by the measuring worker; classification does not wait for it.

PROGRESS_STEPS = 1000
_ANSWER_LINES = 6
_OUTDATED = "Outdated: the project has been changed since this search. Search again."


def trained_part(project: Project) -> tuple[object, ...]:
    """What of a project decides what a search finds: not its name, nor places on the canvas."""
    return project.graph, project.recipe, project.dataset, project.target


class FinderDialog(QDialog):
    """The frame of both finders: what is found, how in a sentence or two, and its chart.

    `chosen` with recipe values, when what was found shall be used.
    """

    chosen = Signal(dict)

    def __init__(
        self,
        context: WindowContext,
        title: str,
        explanation: str,
        plot: QWidget,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"{title} — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(680, 640)
        self._context = context
        self._question = Question(context.measurer)
        self._found: dict[str, object] = {}
        self.status = WaitLabel()
        self.progress = SteadyBar()
        self.progress.setRange(0, PROGRESS_STEPS)
        self.words = plain_label(wrap=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.outdated = plain_label(_OUTDATED, role="warning", wrap=True)
        self._searched = trained_part(context.document.project)
        self._pages = QStackedWidget()
        # As much as the longest answer needs: nothing moves when it comes.
        self._pages.setFixedHeight(_ANSWER_LINES * self.fontMetrics().lineSpacing())
        self.use = button("Use this", role="primary")
        self.again = button("Search again")
        self.stop = button("Cancel")
        self._build(plain_label(title, role="title"), explanation, plot)
        self.use.clicked.connect(self._on_use)
        self.again.clicked.connect(self.start)
        self.stop.clicked.connect(self._on_stop)
        for changed in (context.document.edited, context.document.project_replaced):
            changed.connect(self._show_buttons)
        self.start()

    def _build(self, heading: QWidget, explanation: str, plot: QWidget) -> None:
        searching = QWidget()
        column(self.progress, self.status, STRETCH, parent=searching)
        self._answer = QWidget()
        column(self.outdated, self.words, STRETCH, parent=self._answer)
        for page in (searching, self._answer):
            self._pages.addWidget(page)
        buttons = row(self.use, self.again, STRETCH, self.stop, spacing=8)
        words = plain_label(explanation, role="dim", wrap=True)
        parts = (heading, words, (plot, 1), self._pages, buttons)
        column(*parts, parent=self, margins=(20, 18, 20, 16), spacing=10)

    # what each finder is -----------------------------------------------------------------

    def make_request(self, project: str) -> Request:
        """The request to the worker for a project's text."""
        raise NotImplementedError

    def clear(self) -> None:
        """Empties the chart for another search."""
        raise NotImplementedError

    def take(self, answer: Answer) -> None:
        """Shows an answer of its own."""
        raise NotImplementedError

    # the search --------------------------------------------------------------------------

    @property
    def is_searching(self) -> bool:
        """Whether the worker is still trying."""
        return self._question.is_open

    @property
    def is_outdated(self) -> bool:
        """Whether the project trains otherwise now than the one that is, or was, tried."""
        return trained_part(self._context.document.project) != self._searched

    def start(self) -> None:
        """Begins to search with the project as it is now."""
        self._found = {}
        self._searched = trained_part(self._context.document.project)
        self.clear()
        self.words.setText("")
        self._pages.setCurrentIndex(0)
        self.progress.setRange(0, 0)
        handlers = Handlers(
            on_done=self._on_done,
            on_failed=lambda error: self._end(str(error), is_bad=True),
            on_progress=self._on_progress,
            on_part=self.take,
        )
        request = self.make_request(project_text(self._context.document.project))
        self._question.ask(request, handlers)
        self.status.wait_for("Starting")
        self._show_buttons()

    def found(self, values: dict[str, object], button_words: str, words: str) -> None:
        """Takes the result of the search: what it found, or {} for nothing."""
        self._found = values
        self.use.setText(button_words)
        self.words.setText(words)

    def _on_progress(self, progress: Progress) -> None:
        self.status.wait_for(progress.text)
        is_known = progress.fraction is not None
        self.progress.setRange(0, PROGRESS_STEPS if is_known else 0)
        self.progress.setValue(round((progress.fraction or 0.0) * PROGRESS_STEPS))

    def _on_done(self, answer: Answer) -> None:
        self.take(answer)
        self._end()

    def _end(self, words: str = "", *, is_bad: bool = False) -> None:
        """Ends the search; without words those of what was found stay."""
        self.status.say("")
        if words:
            self.words.setText(words)
        set_role(self.words, "bad" if is_bad else "text")
        self._pages.setCurrentWidget(self._answer)
        self._show_buttons()

    def _show_buttons(self) -> None:
        self.outdated.setVisible(self.is_outdated)
        self.use.setVisible(bool(self._found))
        self.use.setEnabled(not self.is_outdated)
        self.again.setVisible(not self.is_searching)
        self.stop.setText("Cancel" if self.is_searching else "Close")

    def _on_use(self) -> None:
        self.chosen.emit(dict(self._found))
        self.accept()

    def _on_stop(self) -> None:
        if self.is_searching:
            self._question.drop()
            self._end("Canceled. The training settings are unchanged.")
        else:
            self.reject()

    def done(self, result: int) -> None:
        """Ends the worker's request, however the dialog is closed."""
        self._question.drop()
        super().done(result)


# rate plots ----------------------------------------------------------------------------------
# Both plots of the learning-rate finder, one above the other, with the same rates.


class RatePlots(QWidget):
    """Loss while the rate rises, and accuracy after short trainings.

    Args:
        theme: Colors.
        lowest, highest: Ends of both axes.
    """

    def __init__(self, theme: Theme, lowest: float, highest: float) -> None:
        super().__init__()
        self._rates: list[float] = []
        self._losses: list[float | None] = []
        self._points: list[TrialPoint] = []
        self.sweep = LearningRatePlot(theme, lowest, highest)
        self.trials = TrialPlot(theme)
        self.trials.set_x_range((math.log10(lowest), math.log10(highest)))
        above = plain_label("Loss while the learning rate rises", role="dim")
        self.lengths = plain_label("", role="dim")
        column(above, (self.sweep, 1), self.lengths, (self.trials, 1), parent=self, spacing=4)
        self.clear()

    def clear(self) -> None:
        """Empties both plots: nothing is tried yet."""
        self._rates, self._losses, self._points = [], [], []
        self.sweep.set_result([], [], None)
        self.sweep.show_empty("First losses once the model is built")
        self.trials.set_points([])
        self.trials.show_empty("First accuracy once the loss has risen")
        self.lengths.setText("Accuracy after short trainings")

    def take_tried(self, answer: LearningRateTried) -> None:
        """Adds steps of the rising rate to the sweep's plot."""
        self.sweep.show_empty("")
        self._rates += answer.rates
        self._losses += answer.losses
        self.sweep.set_result(self._rates, self._losses, None)

    def take_trial(self, answer: LearningRateTrial) -> None:
        """Adds one learning-rate trial to the scatter plot."""
        self._points.append(TrialPoint(answer.rate, answer.steps, answer.accuracy))
        self.trials.show_empty("")
        self.trials.set_points(self._points)
        steps = sorted({point.steps for point in self._points})
        lines = zip(steps, ("gray", "blue"), strict=False)
        names = [f"{length:,} steps ({color})" for length, color in lines]
        self.lengths.setText("Accuracy after " + " and ".join(names))

    def take_found(self, answer: LearningRateFound) -> None:
        """Marks the suggested rate at the end."""
        self.sweep.set_result(self._rates, self._losses, answer.suggested)
        self.trials.set_points(self._points, answer.suggested, answer.good)


# dialogs -------------------------------------------------------------------------------------
# Finds a learning rate by a rising one and short trainings; or a batch size: images/s of each,
# and which still fit into memory.

LEARNING_RATE = (
    "Raises the learning rate until the loss rises (learning rate range test), then trains a copy "
    "of the model briefly with a few rates, your rate among them, and compares the accuracy."
)
BATCH_SIZE = (
    "Trains a copy of the model briefly with each batch size; speeds that contradict each other "
    "are measured again. Larger batches are often faster, up to a limit, and need more memory."
)


class FindLearningRateDialog(FinderDialog):
    """Shows loss and accuracy by learning rate, live."""

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        ends = FindLearningRate(id=0, project="")
        self.plots = RatePlots(context.theme, ends.lowest, ends.highest)
        super().__init__(context, "Find learning rate", LEARNING_RATE, self.plots, parent)

    def make_request(self, project: str) -> FindLearningRate:
        return FindLearningRate(id=0, project=project)

    def clear(self) -> None:
        self.plots.clear()

    def take(self, answer: Answer) -> None:
        if isinstance(answer, LearningRateTried):
            self.plots.take_tried(answer)
        elif isinstance(answer, LearningRateTrial):
            self.plots.take_trial(answer)
        elif isinstance(answer, LearningRateFound):
            self.plots.take_found(answer)
            rate = answer.suggested
            if rate is None or rate == answer.present:
                self.found({}, "", answer.words)
            else:
                self.found({"learning_rate": rate}, f"Use {rate_text(rate)}", answer.words)


class FindBatchSizeDialog(FinderDialog):
    """Shows images per second by batch size, live."""

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        self._points: list[BatchSizePoint] = []
        self.plot = BatchSizePlot(context.theme, FindBatchSize(id=0, project="").sizes)
        page = QWidget()
        column(self.plot, STRETCH, parent=page)
        super().__init__(context, "Find batch size", BATCH_SIZE, page, parent)

    def make_request(self, project: str) -> FindBatchSize:
        return FindBatchSize(id=0, project=project)

    def clear(self) -> None:
        self._points = []
        self.plot.set_result([], None)

    def take(self, answer: Answer) -> None:
        if isinstance(answer, BatchSizeTried):
            point = BatchSizePoint(
                answer.size,
                answer.images_per_second,
                answer.memory_bytes,
                answer.problem,
                answer.times,
                answer.spread,
            )
            self._points = sorted(
                [*(p for p in self._points if p.batch_size != answer.size), point],
                key=lambda each: each.batch_size,
            )
            self.plot.set_result(self._points, None)
        elif isinstance(answer, BatchSizeFound):
            self.plot.set_result(self._points, answer.suggested)
            words = " ".join((answer.words, *answer.changes))
            values: dict[str, object] = {"batch_size": answer.suggested} if answer.suggested else {}
            self.found(values, f"Use batch {count(answer.suggested)}", words)


# controller ----------------------------------------------------------------------------------
# Finding a number of the recipe: one search at a time, its result an undoable edit.


def _is_wanted(dialog: FinderDialog, kind: type[FinderDialog]) -> bool:
    return not dialog.is_outdated and (dialog.is_searching or isinstance(dialog, kind))


class FinderController(QObject):
    """Opens the finders over a window; `said` what was changed, or why nothing can be tried."""

    said = Signal(str)

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._window = window
        self.dialog: FinderDialog | None = None

    def find(self, key: str) -> None:
        """Begins to find "learning_rate" or "batch_size". A search that goes on, or what it has
        found, is brought up while it is that of the project as it is now.
        """
        make = FindLearningRateDialog if key == "learning_rate" else FindBatchSizeDialog
        dialog = self.dialog
        if dialog is not None and _is_wanted(dialog, make):
            dialog.raise_()
            dialog.activateWindow()
            return
        if reason := self._context.document.analysis.reason:
            self.said.emit(reason)
            return
        if dialog is not None:
            dialog.close()
        dialog = self.dialog = make(self._context, self._window)
        dialog.chosen.connect(self._on_chosen)
        dialog.finished.connect(self._on_finished)
        dialog.show()

    def _on_chosen(self, values: dict[str, object]) -> None:
        self._context.document.set_recipe(**values)
        words = [p.title + " " + p.show(values[p.key]) for p in RECIPE_PARAMS if p.key in values]
        self.said.emit(f"Training settings changed: {', '.join(words)}. Undo reverts this.")

    def _on_finished(self, _result: int) -> None:
        self.dialog = None
