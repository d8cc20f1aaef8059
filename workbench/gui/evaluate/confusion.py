"""The confusion matrix of an evaluation: counts or shares, ordered, searched, saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from heapq import nsmallest
from pathlib import Path
from typing import cast

import numpy as np
from PySide6.QtWidgets import QLineEdit, QStackedWidget

from workbench.core.evaluation.confusion import (
    ConfusedPair,
    Confusion,
    Numbers,
    Per,
    balanced_accuracy,
    most_confused,
    most_confused_classes,
    order_by_confusion,
)
from workbench.core.evaluation.significance import wilson_interval
from workbench.core.format import count, share
from workbench.gui.common.confusion_matrix import ConfusionMatrix
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton, figure_file
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.buttons import SegmentedSwitch
from workbench.gui.kit.labels import breakable, plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, FlowLayout, row
from workbench.gui.kit.widgets import Figure, TitledBox
from workbench.gui.tables import Cell, Column, NumberTable, class_row, class_table
from workbench.protocol.trained.evaluate import Evaluation
from workbench.runs.export.tables import class_scores_csv, confused_pairs_csv, confusion_csv

# classes -------------------------------------------------------------------------------------
# The figures of an evaluation in all, for each class, and for pairs of classes.

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


# confusion -----------------------------------------------------------------------------------

_SHARES: tuple[tuple[Per | None, str], ...] = (
    (None, "Counts"),
    ("actual", "% of actual"),
    ("predicted", "% of predicted"),
)
_ORDERS = (("data", "In order"), ("confusion", "Confused together"))
_CLICK = "Click a cell or a class to see its images, or use the arrow keys and Enter."
_SEARCH_PX = 110
_SEARCH_FROM = 12
"""Classes from which on a field to find some of them is of use."""


_MOST_SHOWN = 200
"""Classes that are drawn in some milliseconds; of more the most confused ones are."""


class ConfusionPanel(TitledBox):
    """The matrix, and the square under the mouse in words."""

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("Confusion matrix")
        self._state = state
        self._result: Evaluation | None = None
        self._order: Numbers = np.arange(0)
        self.map = ConfusionMatrix(state.context.theme)
        self.source = plain_label(role="dim", wrap=True)
        self.hover = plain_label(_CLICK, role="dim", wrap=True)
        self.shares, self.order = NoWheelComboBox(), NoWheelComboBox()
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find classes")
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(_SEARCH_PX)
        self.menu_button = SaveFigureButton(state.context.theme, "confusion matrix")
        self._build()
        self._connect()

    def _build(self) -> None:
        for box, choices, name in (
            (self.shares, _SHARES, "Numbers in the matrix"),
            (
                self.order,
                _ORDERS,
                "Order of the classes: as in the data set, or those confused side by side",
            ),
        ):
            for key, words in choices:
                box.addItem(words, key)
            box.setAccessibleName(name)
            box.setToolTip(name)
        self.shares.setSizeAdjustPolicy(NoWheelComboBox.SizeAdjustPolicy.AdjustToContents)
        self.saver = FigureSaver(
            self, self._state.background, "confusion-matrix", "confusion matrix", self._writer
        )
        self.menu_button.set_saver(self.saver)
        controls = (self.shares, self.order, (self.search, 1), STRETCH, self.menu_button)
        self.column.addLayout(row(*controls, spacing=8))
        self.column.addWidget(self.source)
        self.column.addWidget(self.map, 1)
        self.column.addWidget(self.hover)

    def _connect(self) -> None:
        self.map.is_clickable = True
        self.map.hovered.connect(self._on_hovered)
        self.map.chosen.connect(self._state.images_wanted)
        self.shares.currentIndexChanged.connect(self._show_shares)
        self.order.currentIndexChanged.connect(self._find_order)
        self.search.textChanged.connect(self._show_classes)
        self.saver.said.connect(self._state.said)
        self._state.evaluated.connect(self._show)
        self._state.cell_pointed.connect(self._point_at)

    def _show(self, result: Evaluation) -> None:
        self._result = result
        size = len(result.classes)
        words = self._state.images_words()
        if size > _MOST_SHOWN:
            words += f" · the {_MOST_SHOWN} most confused of {count(size)} classes"
        self.source.setText(breakable(words))
        self._order = np.arange(min(size, _MOST_SHOWN))
        self.search.setVisible(size >= _SEARCH_FROM)
        self.map.set_matrix(result.classes, result.matrix, self._order)
        self._show_classes()
        self._find_order()

    def _show_shares(self) -> None:
        self.map.set_shares(cast("Per | None", self.shares.currentData()))

    def _find_order(self) -> None:
        """Orders the classes, in the background where that may take a second."""
        result = self._result
        if result is None:
            return
        matrix, is_data = result.matrix, self.order.currentData() == "data"
        if is_data and matrix.size <= _MOST_SHOWN:
            self._take_order(result, np.arange(matrix.size))
            return
        self._state.background.run(
            lambda: _order_of(matrix, is_data=is_data),
            lambda order: self._take_order(result, order),
        )

    def _take_order(self, result: Evaluation, order: Numbers) -> None:
        if result is self._result:
            self._order = order
            self._show_classes()

    def _show_classes(self) -> None:
        """Lists all classes, or those with the searched words and what they are confused with."""
        if self._result is None:
            return
        words = self.search.text().casefold().strip() if not self.search.isHidden() else ""
        if not words:
            self.map.set_shown(self._order)
            self.map.setMinimumHeight(self.map.side_px())
            return
        matrix = self._result.matrix
        named = np.array([words in name.casefold() for name in self._result.classes], bool)
        wanted = named.copy()
        wanted[matrix.predicted[named[matrix.actual]]] = True
        wanted[matrix.actual[named[matrix.predicted]]] = True
        # Behind the ordered classes come those that are only shown when they are searched for.
        others = np.setdiff1d(np.flatnonzero(wanted), self._order)
        order = np.concatenate([self._order[wanted[self._order]], others])
        first = np.argsort(~named[order], kind="stable")[:_MOST_SHOWN]
        self.map.set_shown(order[np.sort(first)])

    def _point_at(self, actual: int, predicted: int) -> None:
        if not {actual, predicted} <= set(self.map.shown):
            self.search.clear()
        if not {actual, predicted} <= set(self.map.shown):
            others = [each for each in self._order if each not in {actual, predicted}]
            last = others[: _MOST_SHOWN - 2]
            self.map.set_shown(np.array([*last, *dict.fromkeys((actual, predicted))], np.intp))
        self.map.point_at((actual, predicted))

    def _on_hovered(self, words: str) -> None:
        self.hover.setText(words or _CLICK)

    def _writer(self, path: Path) -> Callable[[], None]:
        return figure_file(path, self.map, self._title(), self._table)

    def _title(self) -> str:
        return f"Confusion matrix: {self._state.images_words()}"

    def _table(self) -> str:
        result = self._result
        return confusion_csv(result.classes, result.matrix) if result is not None else ""


def _order_of(matrix: Confusion, *, is_data: bool) -> Numbers:
    """The classes that are shown, as in the data set or those confused with each other together."""
    shown = np.arange(matrix.size)
    if matrix.size > _MOST_SHOWN:
        shown = most_confused_classes(matrix, _MOST_SHOWN)
    return shown if is_data else shown[order_by_confusion(matrix.dense(shown))]
