"""What a sweep has given: its combinations in a table and in two figures, and one to be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHeaderView,
    QMenu,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from workbench.client.background import Background
from workbench.core.format import plural, share, within_sentence
from workbench.gui.common.figure_saver import FigureSaver
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.buttons import IconButton, SegmentedSwitch, button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.figure_file import figure_file
from workbench.gui.plots.trials.figure import Trial, TrialFigure
from workbench.gui.plots.trials.parallel_coordinates import ParallelCoordinates
from workbench.gui.plots.trials.scatter import TrialScatter
from workbench.runs.library.series import Spread, spread_words
from workbench.runs.library.sweep_result import (
    CombinationResult,
    SweepResult,
    SweepRun,
    combination_words,
)
from workbench.runs.state.outcome import outcome_words

_NUMBER, _SORT = int(Qt.ItemDataRole.UserRole), int(Qt.ItemDataRole.UserRole) + 1
_FIGURES = (("parallel", "Parallel coordinates"), ("scatter", "Scatter plot"))
_COLUMNS = ("Validation", "Test", "Remark")
_TIPS = ("Accuracy on the validation images", "Accuracy on the test images", "")
_EMPTY = "The project has no sweep yet. Choose settings and values under “Plan”, then start."
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class _Line(QTreeWidgetItem):
    """A line that is sorted by numbers where it has them."""

    def __lt__(self, other: QTreeWidgetItem) -> bool:
        place = self.treeWidget().sortColumn()
        mine, theirs = self.data(place, _SORT), other.data(place, _SORT)
        if isinstance(mine, float) and isinstance(theirs, float):
            return mine < theirs
        return self.text(place) < other.text(place)


class SweepResultPage(QWidget):
    """The figures above, the table below.

    Signals:
        use_asked(CombinationResult): The project shall train as this combination did.
        run_asked(Path): A run shall be shown.
        stop_asked: All runs of the sweep shall end.

    Attributes:
        result: What is shown.
        footer: The buttons, for the last line of the dialog.
    """

    use_asked = Signal(object)
    run_asked = Signal(object)
    stop_asked = Signal()

    def __init__(self, theme: Theme, background: Background) -> None:
        super().__init__()
        self.result = SweepResult()
        self._background = background
        self._shown = ""
        self._picked: int | None = None  # the best one, until another is
        self._titles: dict[str, str] = {}
        self._lines: dict[int | None, QTreeWidgetItem] = {}
        self.head = plain_label(role="strong", wrap=True)
        self.notes = plain_label(role="dim", wrap=True)
        self.figure = SegmentedSwitch(_FIGURES)
        self.axis = NoWheelComboBox()
        self.menu_button = IconButton(theme, "more", "Save the figure")
        self.parallel, self.scatter = ParallelCoordinates(theme), TrialScatter(theme)
        self.table = QTreeWidget()
        self.use = button("Use this one", role="primary")
        self.show_run = button("Show run")
        self.stop = button("Stop sweep")
        self.said = plain_label(role="dim", wrap=True)
        self.footer = QWidget()
        self._pages = QStackedWidget()
        self._savers = {
            "parallel": self._saver("parallel-coordinates", "figure", self.parallel),
            "scatter": self._saver("scatter-plot", "figure", self.scatter),
        }
        self._build()
        self._connect()
        self.show_result(SweepResult(), {})

    def _saver(self, name: str, title: str, figure: TrialFigure) -> FigureSaver:
        def writer(path: Path) -> Callable[[], None]:
            return figure_file(path, figure, figure.accessibleName(), lambda: self._shown)

        return FigureSaver(self, self._background, name, title, writer)

    def _build(self) -> None:
        self.figure.set_current("parallel")
        self.axis.setAccessibleName("Setting of the scatter plot")
        self.axis.setSizeAdjustPolicy(NoWheelComboBox.SizeAdjustPolicy.AdjustToContents)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.menu_button.setMenu(self._menu)
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        for figure in (self.parallel, self.scatter):
            self._pages.addWidget(figure)
        self.table.setAccessibleName("Combinations")
        self.table.setAllColumnsShowFocus(True)
        self.table.setSortingEnabled(True)
        self.table.header().setStretchLastSection(True)
        figures = QWidget()
        head = row(self.figure, self.axis, STRETCH, self.menu_button, spacing=8)
        column(head, (self._pages, 1), parent=figures, spacing=6)
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.setChildrenCollapsible(False)
        for part in (figures, self.table):
            halves.addWidget(part)
        halves.setSizes([300, 200])
        row(self.use, self.show_run, self.stop, (self.said, 1), parent=self.footer, spacing=8)
        parts = (self.head, (halves, 1), self.notes)
        column(*parts, parent=self, spacing=10)

    def _connect(self) -> None:
        self.figure.chosen.connect(self._show_figure)
        self.axis.currentIndexChanged.connect(self.scatter.set_axis)
        self.table.itemSelectionChanged.connect(self._on_selected)
        self.table.itemDoubleClicked.connect(lambda *_of_item: self._on_show_run())
        self.use.clicked.connect(self._on_use)
        self.show_run.clicked.connect(self._on_show_run)
        self.stop.clicked.connect(self.stop_asked)
        for figure in (self.parallel, self.scatter):
            figure.chosen.connect(self.select)
        for saver in self._savers.values():
            saver.said.connect(self.said.setText)

    def _fill_menu(self) -> None:
        self._menu.clear()
        self._savers[self._key()].add_to(self._menu)

    def _key(self) -> str:
        return "scatter" if self._pages.currentWidget() is self.scatter else "parallel"

    def _show_figure(self, key: str) -> None:
        self.figure.set_current(key)
        self._pages.setCurrentWidget(self.scatter if key == "scatter" else self.parallel)
        self.axis.setVisible(key == "scatter")

    # the result --------------------------------------------------------------------------

    def show_result(self, result: SweepResult, titles: dict[str, str]) -> None:
        """Shows what a sweep has given so far; the titles are those of settings, by key."""
        table = result.csv_text() if result.runs else ""
        if table == self._shown and result.runs and titles == self._titles:
            return
        if result.series != self.result.series:
            self._picked = None
        self.result, self._shown, self._titles = result, table, titles
        names = [titles.get(key, key) for key in result.keys]
        self.head.setText(_head(result, names))
        self.notes.setText(" ".join(result.notes()))
        self._show_trials(names)
        self._fill(names)
        best = result.best.number if result.best is not None else None
        self._mark(self._picked if self._picked is not None else best)

    def _show_trials(self, names: Sequence[str]) -> None:
        trials = [
            Trial(each.combination, tuple(each.values.values()), accuracy, each.is_hopeless,
                  _run_words(each))
            for each in self.result.runs
            if (accuracy := each.trained.val_accuracy) is not None
        ]  # fmt: skip
        for figure in (self.parallel, self.scatter):
            figure.set_trials(names, trials)
        if [self.axis.itemText(place) for place in range(self.axis.count())] != [*names]:
            self.axis.clear()
            self.axis.addItems([*names])
        self._show_figure(self._key())

    def _fill(self, names: Sequence[str]) -> None:
        bar = self.table.verticalScrollBar()
        place, order = bar.value(), self.table.header().sortIndicatorSection()
        is_same = self.table.columnCount() == len(names) + len(_COLUMNS)
        self.table.setSortingEnabled(False)
        self.table.blockSignals(True)
        self.table.clear()
        self.table.setHeaderLabels([*names, *_COLUMNS])
        for place, tip in enumerate(_TIPS, len(names)):
            self.table.headerItem().setToolTip(place, tip)
        self.table.setRootIsDecorated(any(len(e.runs) > 1 for e in self.result.combinations))
        self._lines = {each.number: self._line(each) for each in self.result.combinations}
        self.table.addTopLevelItems([*self._lines.values()])
        self.table.blockSignals(False)
        header = self.table.header()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSortIndicator(order if is_same else -1, header.sortIndicatorOrder())
        self.table.setSortingEnabled(True)
        bar.setValue(place)

    def _line(self, each: CombinationResult) -> QTreeWidgetItem:
        figures = [each.val_accuracy, each.test_accuracy]
        words = [*each.values.values(), *map(spread_words, figures)]
        remark = combination_words(self.result, each)
        line = _Line([*words, remark])
        line.setToolTip(len(words), plain_tip(remark))
        sorts = [*map(_sort, each.values.values()), *map(_mean, figures)]
        for place, sort in enumerate(sorts):
            line.setData(place, _SORT, sort)
            line.setTextAlignment(place, _RIGHT)
            self.table.headerItem().setTextAlignment(place, _RIGHT)
        line.setData(0, _NUMBER, each.number)
        if len(each.runs) > 1:
            line.addChildren([self._run_line(run) for run in each.runs])
        return line

    def _run_line(self, run: SweepRun) -> QTreeWidgetItem:
        own, blanks = run.trained, [""] * (len(run.values) - 1)
        figures = [share(x) if x is not None else "" for x in (own.val_accuracy, own.test_accuracy)]
        words = "stopped early" if run.is_hopeless else outcome_words(own.outcome)
        line = _Line([f"seed {own.seed}", *blanks, *figures, words])
        for place in range(len(run.values) + 2):
            line.setTextAlignment(place, _RIGHT)
        line.setData(0, _NUMBER, run.combination)
        return line

    # the chosen one ----------------------------------------------------------------------

    def chosen(self) -> CombinationResult | None:
        """The combination of the selected line."""
        items = self.table.selectedItems()
        number = items[0].data(0, _NUMBER) if items else None
        found = (each for each in self.result.combinations if each.number == number)
        return next(found, None)

    def select(self, number: int | None) -> None:
        """Selects the line of a combination; it stays selected while results arrive."""
        self._picked = number
        self._mark(number)

    def _mark(self, number: int | None) -> None:
        self.table.blockSignals(True)
        if number in self._lines:
            self.table.setCurrentItem(self._lines[number])
        self.table.blockSignals(False)
        self._show_chosen()

    def _on_selected(self) -> None:
        chosen = self.chosen()
        self._picked = chosen.number if chosen is not None else None
        self._show_chosen()

    def _show_chosen(self) -> None:
        chosen = self.chosen()
        for figure in (self.parallel, self.scatter):
            figure.set_marked(chosen.number if chosen is not None else None)
        self._show_buttons()

    def _show_buttons(self) -> None:
        has_one = self.chosen() is not None
        self.use.setEnabled(has_one)
        self.show_run.setEnabled(has_one)
        is_open = any(each.trained.outcome in _UNDER_WAY for each in self.result.runs)
        self.stop.setVisible(is_open)

    def _on_use(self) -> None:
        chosen = self.chosen()
        if chosen is not None:
            self.use_asked.emit(chosen)

    def _on_show_run(self) -> None:
        chosen = self.chosen()
        if chosen is not None:
            best = max(chosen.runs, key=lambda run: run.trained.val_accuracy or 0.0)
            self.run_asked.emit(Path(best.trained.run.path))


_UNDER_WAY = ("running", "silent", "waiting", "away")


def _head(result: SweepResult, names: Sequence[str]) -> str:
    if not result.runs:
        return _EMPTY
    done = f"{result.num_settled} of {plural(len(result.runs), 'run')} completed"
    best = result.best
    if best is None:
        return f"{done}."
    pairs = zip(names, best.values.values(), strict=True)
    words = ", ".join(f"{within_sentence(name)} {text}" for name, text in pairs)
    so_far = "" if result.num_settled == len(result.runs) else " so far"
    return f"{done}. Best{so_far}: {words}; validation accuracy {spread_words(best.val_accuracy)}."


def _run_words(run: SweepRun) -> str:
    accuracy = f"validation accuracy {share(run.trained.val_accuracy)}"
    early = ", stopped early" if run.is_hopeless else ""
    return plain_tip(f"{run.trained.label}: {accuracy}{early}")


def _sort(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _mean(spread: Spread | None) -> float:
    return spread.mean if spread is not None else -1.0
