"""Cross-validation and repeated seeds of the project: queues the runs, shows mean and spread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from workbench.core.confusion import Confusion
from workbench.core.format import plural, share
from workbench.core.params import IntParam
from workbench.core.training.fields.dividing import MAX_FOLDS
from workbench.errors import ParamError
from workbench.gui.common.confusion_matrix import POINT_AT, ConfusionMatrix
from workbench.gui.common.context import WindowContext
from workbench.gui.forms.number_field import NumberField
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.wait_label import WaitLabel
from workbench.gui.train.series.series_dialog import SeriesDialog
from workbench.runs.library.cross_validation import FoldPlan, FoldResult, Trained, series_result
from workbench.runs.library.series import MAX_RUNS, newest_series, spread_words
from workbench.runs.state.outcome import outcome_words

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
