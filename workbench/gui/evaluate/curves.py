"""ROC and precision-recall curves of an evaluation, and thresholds that are chosen on them.

The figures are computed in `workbench.core.evaluation` from the kept probabilities, in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from heapq import nsmallest
from pathlib import Path
from typing import cast

import numpy as np
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from workbench.core.evaluation.ranking import Drawn, Floats, Goal, Wish
from workbench.core.format import share
from workbench.core.params import FloatParam, IntParam
from workbench.errors import ParamError, WorkbenchError
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton, figure_file
from workbench.gui.evaluate.calibration import ShareFigure
from workbench.gui.evaluate.curve_data import (
    MACRO,
    MICRO,
    Loaded,
    Shown,
    is_validation,
    load,
    shown_average,
    shown_class,
    top_k_words,
)
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.forms.number_field import NumberField
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import breakable, plain_label
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import Figure, TitledBox
from workbench.protocol.trained.evaluate import Evaluation
from workbench.runs.export.tables import curves_csv
from workbench.runs.folder import RunFolder
from workbench.runs.log.texts import area_words

# figures -------------------------------------------------------------------------------------
# The two curves of a class: what each threshold finds, and what it takes by mistake.

_DOT_PX = 5.0


class CurveFigure(ShareFigure):
    """A curve of shares, the marked point on it, and words for the point under the mouse.

    Signals:
        hovered(str): Words for the nearest point; "" for none.
    """

    hovered = Signal(str)

    def __init__(self, theme: Theme, x_words: str, y_words: str, *, has_diagonal: bool) -> None:
        super().__init__(theme, x_words, y_words)
        self._has_diagonal = has_diagonal
        self._x: Floats = np.zeros(0)
        self._y: Floats = np.zeros(0)
        self.marked: tuple[float, float] | None = None
        self.setMouseTracking(True)

    def set_curve(self, x: Floats, y: Floats, area: float | None) -> None:
        """Shows a curve (m,) with the area below it."""
        self._x, self._y, self.marked = x, y, None
        words = "none" if area is None else f"{area:.3f}"
        self.setAccessibleDescription(f"Area {words}")
        self.update()

    def mark(self, point: tuple[float, float] | None) -> None:
        """Marks the point of a threshold."""
        self.marked = point
        self.update()

    def paint_shares(self, painter: QPainter) -> None:
        """Paints the curve; of a ROC curve also that of chance; and the threshold."""
        colors = self._theme.colors
        if self._has_diagonal:
            painter.setPen(QPen(QColor(colors.dim), 1.2, Qt.PenStyle.DashLine))
            painter.drawLine(self.place(0, 0), self.place(1, 1))
        painter.setPen(QPen(QColor(colors.train), 2))
        points = zip(self._x.tolist(), self._y.tolist(), strict=True)
        painter.drawPolyline([self.place(*point) for point in points])
        if self.marked is not None:
            painter.setPen(QPen(QColor(colors.panel), 1.5))
            painter.setBrush(QColor(colors.validation))
            painter.drawEllipse(self.place(*self.marked), _DOT_PX, _DOT_PX)

    def words_at(self, place: QPointF) -> str:
        """The point of the curve that is nearest to a place in pixels, in words."""
        area = self.area()
        if not len(self._x) or not area.contains(place):
            return ""
        x = (place.x() - area.left()) / area.width()
        y = (area.bottom() - place.y()) / area.height()
        at = int(np.argmin((self._x - x) ** 2 + (self._y - y) ** 2))
        names = zip(self._words, (self._x[at], self._y[at]), strict=True)
        return ", ".join(f"{name.lower()} {share(float(value))}" for name, value in names)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hovered.emit(self.words_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit("")


def roc_figure(theme: Theme) -> CurveFigure:
    """An empty ROC curve."""
    figure = CurveFigure(theme, "False positive rate", "True positive rate", has_diagonal=True)
    figure.setAccessibleName("ROC curve")
    return figure


def recall_figure(theme: Theme) -> CurveFigure:
    """An empty precision-recall curve."""
    figure = CurveFigure(theme, "Recall", "Precision", has_diagonal=False)
    figure.setAccessibleName("Precision-recall curve")
    return figure


def show(
    roc: CurveFigure, recall: CurveFigure, drawn: Drawn, areas: tuple[float | None, ...]
) -> None:
    """Shows both curves with their areas."""
    roc.set_curve(drawn.false_positive_rate, drawn.true_positive_rate, areas[0])
    recall.set_curve(drawn.recall, drawn.precision, areas[1])


# panel ---------------------------------------------------------------------------------------
# ROC and precision-recall curves of the classes, their areas, and what thresholds give.

MOST_CLASSES = 300
"""More classes than anyone looks for in a list: those with the smallest areas are."""

NOT_KEPT = "The probabilities of all classes were not kept with this evaluation. Evaluate again."
TOO_MANY = "There are too many images and classes to keep their probabilities for curves."
NO_VALIDATION = "A threshold is chosen on the validation images. Evaluate them, too, to choose one."
IS_VALIDATION = "Thresholds are chosen on these images: choose another set to see what they give."

_GOALS: tuple[tuple[Goal, str], ...] = (
    ("f1", "Best F1"),
    ("precision", "Precision of at least"),
    ("cost", "Lowest cost"),
)


class CurvesPanel(TitledBox):
    """The curves of a class, or of all classes in the mean, and a threshold."""

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("Curves")
        theme = state.context.theme
        self._state = state
        self._found: Loaded | None = None
        self._result: Evaluation | None = None
        self._read: object = None
        self._asked: object = None
        self.wish, self.costs = Wish(), (10.0, 1.0)
        self.classes = NoWheelComboBox()
        self.roc, self.recall = roc_figure(theme), recall_figure(theme)
        titles = ("ROC AUC", "Average precision")
        self.area, self.precision = (Figure(title) for title in titles)
        for figure in (self.area, self.precision):
            figure.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.goal = NoWheelComboBox()
        self.status = plain_label(role="dim", wrap=True)
        self.words = plain_label(wrap=True)
        self.top = plain_label(role="value")
        self.validate = button("Evaluate the validation images")
        self.menu_button = SaveFigureButton(theme, "curves")
        self._build()
        self._connect()
        self._show_goal()

    def _build(self) -> None:
        self.classes.setAccessibleName("Class")
        self.goal.setAccessibleName("What the threshold is chosen for")
        for key, words in _GOALS:
            self.goal.addItem(words, key)
        self.saver = FigureSaver(self, self._state.background, "curves", "curves", self._writer)
        self.menu_button.set_saver(self.saver)
        self.least = _field("Precision", 0.9, most=1.0, step=0.01)
        self.false_alarm = _field("False alarm costs", 1.0)
        self.miss = _field("Miss costs", 1.0)
        self.error = _field("Error costs", 10.0)
        self.unknown = _field("Unknown costs", 1.0)
        self.k = NumberField(IntParam("k", 5, "", minimum=1, maximum=10_000))
        self.k.setAccessibleName("k of the top-k accuracy")
        self._build_choices()
        self._choices = QStackedWidget()
        for page in (self._of_all, self._of_class):
            self._choices.addWidget(page)
        head = row(self.area, self.precision, STRETCH, self.menu_button, spacing=24)
        self.column.addLayout(row(plain_label("Class"), (self.classes, 1), spacing=8))
        self.column.addLayout(head)
        self.column.addWidget(self.figures, 1)
        self.column.addWidget(self.status)
        self.column.addWidget(self._choices)
        self.column.addWidget(self.words)
        self.column.addLayout(row(self.validate, STRETCH))
        self.column.addStretch(0)  # without figures their reason is at the top
        self.setMinimumWidth(430)

    def _build_choices(self) -> None:
        """Builds the controls for a class, and for all classes."""
        self.figures, self._of_class, self._of_all = QWidget(), QWidget(), QWidget()
        row((self.roc, 1), (self.recall, 1), parent=self.figures, spacing=8)
        row(
            plain_label("Threshold"),
            self.goal,
            self.least,
            *(self._cost_parts()),
            STRETCH,
            parent=self._of_class,
            spacing=8,
        )
        column(
            row(plain_label("Top"), self.k, plain_label("accuracy"), self.top, STRETCH, spacing=8),
            row(
                plain_label("An error costs"),
                self.error,
                plain_label("“unknown”"),
                self.unknown,
                STRETCH,
                spacing=8,
            ),
            parent=self._of_all,
            spacing=6,
        )

    def _cost_parts(self) -> list[QWidget]:
        parts = [plain_label("false alarm"), self.false_alarm, plain_label("miss"), self.miss]
        self._costs_of_class = parts
        return parts

    def _connect(self) -> None:
        state = self._state
        state.evaluated.connect(self._show)
        state.looked.connect(self._read_rows)
        self.classes.currentIndexChanged.connect(self._draw)
        self.goal.currentIndexChanged.connect(self._show_goal)
        fields = {
            self.least: "precision", self.false_alarm: "false_alarm", self.miss: "miss",
            self.error: "error", self.unknown: "unknown", self.k: "k",
        }  # fmt: skip
        for field, name in fields.items():
            field.entered.connect(partial(self._on_entered, field, name))
        self.validate.clicked.connect(self._evaluate_validation)
        for figure in (self.roc, self.recall):
            figure.hovered.connect(self._on_hovered)
        self.saver.said.connect(state.said)

    # what is shown -----------------------------------------------------------------------

    def _show(self, result: Evaluation) -> None:
        """Lists the classes to choose from, with the smallest areas alone where there are many."""
        chosen = self.classes.currentData()
        self._result = result
        numbers = range(len(result.classes))
        if len(numbers) > MOST_CLASSES:
            areas = [score.roc_auc for score in result.per_class]
            known = (number for number in numbers if areas[number] is not None)
            worst = nsmallest(MOST_CLASSES, known, key=lambda number: cast("float", areas[number]))
            numbers = worst  # type: ignore[assignment]
        self.classes.blockSignals(True)
        self.classes.clear()
        self.classes.addItem("All classes, macro average", MACRO)
        self.classes.addItem("All classes, micro average", MICRO)
        for number in numbers:
            self.classes.addItem(result.classes[number], number)
        self.classes.setCurrentIndex(max(0, self.classes.findData(chosen)))
        self.classes.blockSignals(False)
        self._found = None
        self._read_rows()

    def _read_rows(self) -> None:
        """Reads the probabilities of the evaluation that is shown, once its file is known."""
        known, run, result = self._state.known, self._state.run, self._result
        kept = known.evaluations.get(self._state.part) if known is not None else None
        if run is None or known is None or kept is None or result is None:
            return
        other = known.evaluations.get("validation")
        asked = run, kept.created, other.created if other is not None else 0.0
        if kept.result != result or (asked == self._read and self._found is not None):
            return
        self._read = asked

        def take(found: Loaded | None) -> None:
            if asked == self._read:
                self._found = found
                self._draw("" if found is not None else self._why_none(kept.result))

        def fail(error: WorkbenchError) -> None:
            if asked == self._read:
                self._draw(f"{error.what} {error.fix}".strip())

        self._state.background.run(lambda: load(RunFolder(run), known, kept), take, fail)

    def _why_none(self, result: Evaluation) -> str:
        return NOT_KEPT if result.roc_auc is None else TOO_MANY

    @property
    def number(self) -> int:
        """The class that is chosen, or the average of all."""
        found = self.classes.currentData()
        return MACRO if found is None else int(found)

    def _draw(self, reason: object = "") -> None:
        """Shows the chosen class; its curves are computed in a thread."""
        self._show_areas()
        self._choices.setCurrentIndex(0 if self.number < 0 else 1)
        found, number, wish, costs = self._found, self.number, self.wish, self.costs
        self._asked = asked = object()
        for part in (self.figures, self._choices, self.words, self.menu_button):
            part.setVisible(found is not None)
        is_known = isinstance(reason, str) and bool(reason)
        self.status.setText(str(reason) if is_known else "")
        self.validate.setVisible(False)
        if found is None:
            return
        self.validate.setVisible(found.chosen_on is None and not is_validation(found.kept))
        k = int(self.k.value())

        def work() -> tuple[Shown, str]:
            if number < 0:
                return shown_average(found, number, costs), top_k_words(found, k)
            return shown_class(found, number, wish), ""

        def take(made: tuple[Shown, str]) -> None:
            if asked is self._asked:
                self._take_shown(found, *made)

        self._state.background.run(work, take)

    def _take_shown(self, found: Loaded, shown: Shown, top: str) -> None:
        show(self.roc, self.recall, shown.drawn, self._areas())
        roc, recall = shown.marked if shown.marked is not None else (None, None)
        self.roc.mark(roc)
        self.recall.mark(recall)
        self.top.setText(top)
        missing = IS_VALIDATION if is_validation(found.kept) else NO_VALIDATION
        self.words.setText(breakable(shown.words or missing))

    def _areas(self) -> tuple[float | None, float | None]:
        result, number = self._result, self.number
        if result is None or result.roc_auc is None or result.average_precision is None:
            return None, None
        if number >= 0:
            score = result.per_class[number]
            return score.roc_auc, score.average_precision
        name = "macro" if number == MACRO else "micro"
        return getattr(result.roc_auc, name), getattr(result.average_precision, name)

    def _show_areas(self) -> None:
        for figure, area in zip((self.area, self.precision), self._areas(), strict=True):
            figure.value.setText(area_words(area))

    def _on_hovered(self, words: str) -> None:
        self.status.setText(words)

    # what is chosen ----------------------------------------------------------------------

    def _show_goal(self) -> None:
        goal = cast("Goal", self.goal.currentData())
        self.wish = Wish(goal, self.wish.precision, self.wish.false_alarm, self.wish.miss)
        self.least.setVisible(goal == "precision")
        for part in self._costs_of_class:
            part.setVisible(goal == "cost")
        self._draw()

    def _on_entered(self, field: NumberField, name: str, _value: object) -> None:
        """Takes what was typed; a field with something else in it is marked."""
        try:
            field.checked()
        except ParamError as error:
            self.status.setText(str(error))
            return
        if name in {"error", "unknown"}:
            self.costs = float(self.error.value()), float(self.unknown.value())
        elif name != "k":
            values = {"precision": self.least, "false_alarm": self.false_alarm, "miss": self.miss}
            numbers = {key: float(each.value()) for key, each in values.items()}
            self.wish = Wish(self.wish.goal, **numbers)
        self._draw()

    def _evaluate_validation(self) -> None:
        self._state.choose_part("validation")
        self._state.evaluate()

    def _writer(self, path: Path) -> Callable[[], None]:
        name, found, number = self.classes.currentText(), self._found, self.number
        words = f"ROC and precision-recall curve, {name}: {self._state.images_words()}"

        def table() -> str:
            if found is None:
                return ""
            rows = found.rows
            return curves_csv(rows.probabilities, rows.actual, number if number >= 0 else None)

        return figure_file(path, self.figures, words, table)


def _field(title: str, default: float, *, most: float = 1e6, step: float = 1.0) -> NumberField:
    field = NumberField(FloatParam("number", default, "", title=title, maximum=most, step=step))
    field.setAccessibleName(title)
    return field
