"""The confusion matrix of an evaluation: counts or shares, ordered, searched, saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
from PySide6.QtWidgets import QLineEdit

from workbench.core.confusion import (
    Confusion,
    Numbers,
    Per,
    most_confused_classes,
    order_by_confusion,
)
from workbench.core.format import count
from workbench.gui.common.confusion_matrix import ConfusionMatrix
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.cards import TitledBox
from workbench.gui.kit.labels import breakable, plain_label
from workbench.gui.kit.layout import STRETCH, row
from workbench.gui.plots.figure_file import figure_file
from workbench.protocol.trained.evaluate import Evaluation
from workbench.runs.export.score_tables import confusion_csv

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
