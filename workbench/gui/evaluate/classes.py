"""The figures of an evaluation in all, for each class, and for pairs of classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from heapq import nsmallest
from pathlib import Path

from PySide6.QtWidgets import QStackedWidget

from workbench.core.confusion import ConfusedPair, balanced_accuracy, most_confused
from workbench.core.evaluation.intervals import wilson_interval
from workbench.core.format import count, share
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.kit.buttons import SegmentedSwitch
from workbench.gui.kit.cards import Figure, TitledBox
from workbench.gui.kit.labels import breakable, plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, FlowLayout, row
from workbench.gui.plots.figure_file import figure_file
from workbench.gui.tables.class_scores import class_row, class_table
from workbench.gui.tables.number_table import Cell, Column, NumberTable
from workbench.protocol.trained.evaluate import Evaluation
from workbench.runs.export.score_tables import class_scores_csv, confused_pairs_csv

PAIR_COLUMNS = (
    Column("Actual"),
    Column("Predicted"),
    Column("Images", 74, "Images of the actual class that were predicted as the other"),
    Column("Of actual", 86, "Their share of the images of the actual class"),
)
MOST_PAIRS = 100
"""More pairs than anyone reads; the matrix has them all."""

MOST_ROWS = 100
"""More classes than a table shows at once; the saved one has them all."""

_LOSS_TIP = (
    "Mean negative log-likelihood of the probabilities that are shown, calibrated where the model "
    "is: the mean of the losses of the images"
)

NO_PAIRS = "No image was predicted as another class."


class ClassesPanel(TitledBox):
    """Accuracy, loss and number of images above the tables of classes and of confused pairs."""

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("Scores")
        self._state = state
        self._pairs: list[ConfusedPair] = []
        self.source = plain_label(role="dim", wrap=True)
        titles = "Accuracy", "Top-3", "Top-5", "Balanced", "Loss", "Support"
        figures = [Figure(title) for title in titles]
        self.accuracy, self.top_3, self.top_5, self.balanced, self.loss, self.pictures = figures
        self.top_k = {3: self.top_3, 5: self.top_5}
        for k, figure in self.top_k.items():
            words = f"images whose actual class is among the {k} most probable ones"
            figure.setToolTip(plain_tip(f"Top-{k} accuracy: {words}"))
        mean = "the mean of the recalls, so that each class counts the same"
        self.balanced.setToolTip(plain_tip(f"Balanced accuracy: {mean}"))
        self.loss.setToolTip(plain_tip(_LOSS_TIP))
        self.pictures.setToolTip("Images that were evaluated")
        self.switch = SegmentedSwitch((("classes", "Per class"), ("pairs", "Most confused")))
        self.switch.set_tip("pairs", "Pairs of classes, by the number of images")
        self.table = class_table(state.context.theme)
        self.pairs = NumberTable(state.context.theme, "Most confused pairs", PAIR_COLUMNS)
        self.no_pairs = plain_label(NO_PAIRS, role="dim")
        self.menu_button = SaveFigureButton(state.context.theme, "scores")
        self._pages = QStackedWidget()
        self._build(figures)
        self._page = "classes"
        self.switch.chosen.connect(self._show_page)
        self.pairs.chosen.connect(self._on_pair_chosen)
        self.saver.said.connect(state.said)
        state.evaluated.connect(self._show)
        self._show_page(self._page)

    def _build(self, figures: Sequence[Figure]) -> None:
        for page in (self.table, self.pairs, self.no_pairs):
            self._pages.addWidget(page)
        flow = FlowLayout(spacing=16, line_spacing=6)
        for figure in figures:
            flow.addWidget(figure)
        self.column.addLayout(flow)
        self.column.addWidget(self.source)
        self.column.addSpacing(2)
        self.saver = FigureSaver(
            self, self._state.background, "class-scores", "scores", self._writer
        )
        self.menu_button.set_saver(self.saver)
        self.column.addLayout(row(self.switch, STRETCH, self.menu_button))
        self.column.addWidget(self._pages, 1)
        self.setMinimumWidth(430)

    def _show_page(self, key: str) -> None:
        self._page = key
        self.switch.set_current(key)
        pairs = self.pairs if self._pairs else self.no_pairs
        self._pages.setCurrentWidget(self.table if key == "classes" else pairs)

    def _show(self, result: Evaluation) -> None:
        matrix, size = result.matrix, len(result.classes)
        low, high = wilson_interval(int(matrix.right.sum()), matrix.total)
        interval = f"accuracy 95% interval {share(low)} to {share(high)}"
        found = result.calibration
        is_scaled = found is not None and found.temperature is not None
        # An evaluation of an earlier version has the loss before calibration alone.
        loss = result.negative_log_likelihood
        loss = result.loss if loss is None else loss
        few = f"the {MOST_ROWS} classes with the lowest F1" if size > MOST_ROWS else ""
        remark = _loss_remark(result) if is_scaled else ""
        parts = [self._state.subject, interval, remark, few]
        self.source.setText(breakable(" · ".join(filter(None, parts))))
        self.accuracy.value.setText(share(result.accuracy))
        for k, figure in self.top_k.items():
            figure.value.setText(share(result.top_k_accuracy.get(k)))
            figure.setVisible(k in result.top_k_accuracy)
        self.balanced.value.setText(share(balanced_accuracy(matrix)))
        self.loss.value.setText("NaN" if loss is None else f"{loss:.4f}")
        self.pictures.value.setText(count(matrix.total))
        worst = result.per_class
        if size > MOST_ROWS:
            worst = nsmallest(MOST_ROWS, worst, key=lambda score: (score.f1, -score.count))
        self.table.set_rows(map(class_row, worst))
        self._pairs = most_confused(matrix, MOST_PAIRS)
        totals: list[int] = matrix.actual_totals.tolist()
        self.pairs.set_rows(map(partial(_pair_row, result.classes, totals), self._pairs))
        self._show_page(self._page)

    def _writer(self, path: Path) -> Callable[[], None]:
        """The table that is shown, as it looks or with all of its rows."""
        result, is_classes = self._state.evaluation, self._page == "classes"
        what = "Scores by class" if is_classes else "Most confused pairs"
        make = class_scores_csv if is_classes else confused_pairs_csv
        title = f"{what}: {self._state.images_words()}"
        return figure_file(
            path, self._pages, title, lambda: make(result) if result is not None else ""
        )

    def _on_pair_chosen(self, number: int) -> None:
        pair = self._pairs[number]
        self._state.cell_pointed.emit(pair.actual, pair.predicted)


def _loss_remark(result: Evaluation) -> str:
    """What the loss was before calibration, or that it is of before."""
    if result.negative_log_likelihood is None or result.loss is None:
        return "loss (uncalibrated)"
    return f"loss (uncalibrated) {result.loss:.4f}"


def _pair_row(names: Sequence[str], totals: Sequence[int], pair: ConfusedPair) -> list[Cell]:
    part = pair.count / totals[pair.actual]
    classes = Cell(names[pair.actual]), Cell(names[pair.predicted])
    return [*classes, Cell(count(pair.count), pair.count), Cell(share(part), part)]
