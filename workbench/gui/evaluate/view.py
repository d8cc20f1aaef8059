"""The evaluate view: how well a run tells the classes apart, on its test pictures or others."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QMenu,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.client.question import Handlers, Question
from workbench.core.params import PathParam
from workbench.core.projects.project import Choice
from workbench.core.projects.source import parse_source
from workbench.core.specs import DatasetSpec
from workbench.errors import WorkbenchError
from workbench.gui.common.confusion_matrix import POINT_AT, ConfusionMap
from workbench.gui.common.context import WindowContext
from workbench.gui.common.model_chooser import ModelChooser
from workbench.gui.evaluate.class_table import ClassTable
from workbench.gui.kit.buttons import button
from workbench.gui.kit.empty import EmptyPage
from workbench.gui.kit.figure import Figure
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.numbers import count, share
from workbench.gui.kit.wait_label import WaitLabel
from workbench.protocol.messages import Evaluate, Evaluation, Progress


class EvaluateView(QWidget):
    """Scores of one run.

    Signals:
        train_requested: There is no network yet and the user wants to train one.
        evaluated: An Evaluation has arrived and is shown.
    """

    train_requested = Signal()
    evaluated = Signal(object)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        theme = context.theme
        self._question = Question(context.service)
        self.chooser = ModelChooser(context.library)
        self.start = button("Evaluate on the test pictures", role="primary")
        self.other = button("Evaluate on other pictures…")
        self.cancel = button("Cancel")
        self.wait = WaitLabel()
        self.source = plain_label(role="dim")
        self.accuracy = Figure(theme, "Accuracy", 110)
        self.loss = Figure(theme, "Loss", 110)
        self.pictures = Figure(theme, "Pictures", 110)
        self.table = ClassTable(theme)
        self.map = ConfusionMap(theme)
        self.hover = plain_label(role="dim")
        self.hint = EmptyPage(
            theme,
            "chart",
            "Not evaluated yet",
            "The test pictures were kept apart from training. Evaluating shows how many the "
            "network gets right, for each class, and what it takes for what.",
            action="Evaluate",
        )
        self.empty = EmptyPage(
            theme,
            "chart",
            "Train a network first",
            "Its scores on pictures it has never seen appear here.",
            action="Train",
        )
        self._body = QStackedWidget()
        self._pages = QStackedWidget()
        self._build()
        self._connect()
        self._show_idle()
        self._on_model_changed()
        self._on_current_changed()

    def _build(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(self.chooser)
        top.addWidget(self.start)
        top.addWidget(self.other)
        top.addWidget(self.cancel)
        top.addWidget(self.wait, 1)
        self._body.addWidget(self.hint)
        self._body.addWidget(self._make_results())
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(12)
        column.addLayout(top)
        column.addWidget(self._body, 1)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._pages)

    def _make_results(self) -> QWidget:
        scores, scores_column = _card("Classes")
        figures = QHBoxLayout()
        for figure in (self.accuracy, self.loss, self.pictures):
            figures.addWidget(figure)
        figures.addStretch(1)
        scores_column.insertLayout(0, figures)
        scores_column.insertWidget(1, self.source)
        scores_column.insertSpacing(2, 6)
        scores_column.addWidget(self.table, 1)
        scores.setMinimumWidth(430)
        matrix, matrix_column = _card("What it takes for what")
        matrix_column.addWidget(self.map, 1)
        matrix_column.addWidget(self.hover)
        parts = QSplitter(Qt.Orientation.Horizontal)
        parts.setChildrenCollapsible(False)
        parts.setHandleWidth(12)
        parts.setStyleSheet("QSplitter::handle { background: transparent; }")
        parts.addWidget(scores)
        parts.addWidget(matrix)
        parts.setStretchFactor(0, 4)
        parts.setStretchFactor(1, 5)
        return parts

    def _connect(self) -> None:
        self.chooser.model_changed.connect(self._on_model_changed)
        self.start.clicked.connect(self.evaluate)
        self.hint.pressed.connect(self.evaluate)
        self.other.clicked.connect(self._on_other)
        self.cancel.clicked.connect(self._on_cancel)
        self.empty.pressed.connect(self.train_requested)
        self.map.hovered.connect(self._on_hovered)
        self._context.library.current_changed.connect(self._on_current_changed)

    # asking ------------------------------------------------------------------------------

    def evaluate(self) -> None:
        """Evaluates the chosen run on its own test pictures."""
        self._ask("", {}, "its test pictures")

    def evaluate_on(self, choice: Choice, words: str) -> None:
        """Evaluates the chosen run on another source."""
        self._ask(choice.key, dict(choice.params), words)

    def _ask(self, source: str, params: dict[str, object], words: str) -> None:
        model = self.chooser.path
        if model is None or self._question.is_open:
            return
        for part in (self.start, self.other, self.chooser):
            part.setEnabled(False)
        self.cancel.show()
        self.wait.wait_for("Evaluating")
        shown = f"{self.chooser.title} on {words}"
        request = Evaluate(id=0, model=str(model), source=source, params=params)
        self._question.ask(
            request,
            Handlers(
                on_done=lambda answer: self._on_done(shown, answer),
                on_failed=self._on_failed,
                on_progress=self._on_progress,
            ),
        )

    def _on_progress(self, progress: Progress) -> None:
        part = f", {share(progress.fraction, 0)}" if progress.fraction else ""
        self.wait.wait_for(f"{progress.text}{part}")

    def _on_done(self, shown: str, answer: Evaluation) -> None:
        self._show_idle()
        self._show(shown, answer)

    def _on_failed(self, error: WorkbenchError) -> None:
        self._show_idle()
        self.wait.say(str(error), is_bad=True)

    def _show_idle(self) -> None:
        for part in (self.start, self.other, self.chooser):
            part.setEnabled(True)
        self.cancel.hide()
        self.wait.say("")

    def _show(self, shown: str, result: Evaluation) -> None:
        total = sum(sum(row) for row in result.confusion)
        self.source.setText(shown)
        self.accuracy.value.setText(share(result.accuracy))
        self.loss.value.setText("not finite" if result.loss is None else f"{result.loss:.4f}")
        self.pictures.value.setText(count(total))
        self.table.set_scores(result.per_class)
        self.map.set_matrix(result.classes, result.confusion)
        self._body.setCurrentIndex(1)
        self.evaluated.emit(result)

    # choosing ----------------------------------------------------------------------------

    def _on_model_changed(self) -> None:
        has_model = self.chooser.path is not None
        self._pages.setCurrentIndex(1 if has_model else 0)
        self._body.setCurrentIndex(0)

    def _on_current_changed(self) -> None:
        current = self._context.library.current
        self.chooser.follow(current.run.path if current is not None else None)

    def _on_cancel(self) -> None:
        self._question.cancel()

    def _on_other(self) -> None:
        menu = QMenu(self)
        for spec in self._context.datasets.values():
            dots = "…" if spec.source_param else ""
            menu.addAction(f"{spec.title}{dots}", partial(self._on_source_chosen, spec))
        menu.exec(self.other.mapToGlobal(self.other.rect().bottomLeft()))
        menu.deleteLater()

    def _on_source_chosen(self, spec: DatasetSpec) -> None:
        value = self._ask_path(spec) if spec.source_param else ""
        if spec.source_param and not value:
            return
        text = f"{spec.key}:{value}" if value else spec.key
        try:
            choice = parse_source(text, self._context.datasets)
        except WorkbenchError as error:
            self.wait.say(str(error), is_bad=True)
            return
        self.evaluate_on(choice, Path(value).name if value else spec.title)

    def _ask_path(self, spec: DatasetSpec) -> str:
        param = next(p for p in spec.params if p.key == spec.source_param)
        if isinstance(param, PathParam) and param.is_folder:
            return QFileDialog.getExistingDirectory(self, spec.title)
        patterns = " ".join(param.patterns) if isinstance(param, PathParam) else ""
        path, _ = QFileDialog.getOpenFileName(
            self, spec.title, "", f"{spec.title} ({patterns});;All files (*)" if patterns else ""
        )
        return path

    def _on_hovered(self, words: str) -> None:
        self.hover.setText(words or POINT_AT)


def _card(title: str) -> tuple[QFrame, QVBoxLayout]:
    card = QFrame()
    card.setProperty("role", "card")
    column = QVBoxLayout(card)
    column.setContentsMargins(16, 12, 16, 12)
    column.setSpacing(8)
    column.addWidget(plain_label(title, role="heading"))
    return card, column
