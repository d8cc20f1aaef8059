"""Finds a number of the recipe by trying: a live chart, what was found, and one click to use it.

The trying is done by the measuring worker; classification does not wait for it.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QStackedWidget, QWidget

from workbench.client.question import Handlers, Question
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import project_text
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label, set_role
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.wait_label import SteadyBar, WaitLabel
from workbench.protocol.bases import Answer, Request
from workbench.protocol.messages import Progress

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
