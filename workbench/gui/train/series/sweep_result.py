"""What a sweep has given: two figures and a table of its combinations, and one to be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget, QTreeWidget, QTreeWidgetItem, QWidget

from workbench.client.background import Background
from workbench.core.format import plural, share, within_sentence
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton, figure_file
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.buttons import SegmentedSwitch, button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.trials import ParallelCoordinates, Trial, TrialFigure, TrialScatter
from workbench.runs.library.series import Spread, spread_words
from workbench.runs.library.sweep_result import (
    CombinationResult,
    SweepResult,
    SweepRun,
    combination_words,
)
from workbench.runs.state.outcome import outcome_words

# sweep table ---------------------------------------------------------------------------------
# The combinations of a sweep as a table: the best first, with the runs of their seeds.

_NUMBER, _SORT, _RUN = (int(Qt.ItemDataRole.UserRole) + place for place in range(3))
_COLUMNS = ("Validation", "Test", "Remark")
_TIPS = ("Accuracy on the validation images", "Accuracy on the test images", "")
_FIGURES_SWEEP_TABLE = 2
_WIDEST = "100.0% ± 10.0%"
_AROUND_PX = 26
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class _Line(QTreeWidgetItem):
    """A line that is sorted by numbers where it has them."""

    def __lt__(self, other: QTreeWidgetItem) -> bool:
        place = self.treeWidget().sortColumn()
        mine, theirs = self.data(place, _SORT), other.data(place, _SORT)
        if isinstance(mine, float) and isinstance(theirs, float):
            return mine < theirs
        return self.text(place) < other.text(place)


class SweepTable(QTreeWidget):
    """A line a combination; below it, where it is trained with several seeds, one a run.

    Signals:
        picked(int): A combination was selected, by its number.
    """

    picked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._lines: dict[int | None, _Line] = {}
        self._runs: dict[int, list[_Line]] = {}
        self._names: list[str] = []
        self._order: list[int] = []
        self.setAccessibleName("Combinations")
        self.setAllColumnsShowFocus(True)
        self.setUniformRowHeights(True)
        self.setSortingEnabled(True)
        self.header().setStretchLastSection(True)
        self.itemSelectionChanged.connect(self._on_selected)

    def set_result(self, result: SweepResult, names: Sequence[str]) -> None:
        """Shows what a sweep has given so far. Lines that are there are changed: to make all of
        them again takes time.

        Args:
            result: The sweep.
            names: The settings that differ, in words.
        """
        combinations, bar = result.combinations, self.verticalScrollBar()
        place, is_same = bar.value(), [*names] == self._names
        is_same = is_same and self._lines.keys() == {each.number for each in combinations}
        with QSignalBlocker(self):
            self.setSortingEnabled(False)
            if not is_same:
                self._make_lines(combinations, names)
            for each in combinations:
                self._show_line(result, each)
            self._put_best_first([each.number for each in combinations])
        if not is_same:
            self.header().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        bar.setValue(place)

    def select(self, number: int | None) -> None:
        """Selects the line of a combination, unless one of its lines is; no signal."""
        if number == self.number:
            return  # also where the line of one of its runs is selected
        with QSignalBlocker(self):
            if number in self._lines:
                self.setCurrentItem(self._lines[number])

    @property
    def number(self) -> int | None:
        """The selected combination."""
        items = self.selectedItems()
        found = items[0].data(0, _NUMBER) if items else None
        return found if isinstance(found, int) else None

    @property
    def run(self) -> Path | None:
        """The run of the selected line; None where that is a combination's."""
        items = self.selectedItems()
        found = items[0].data(0, _RUN) if items else None
        return found if isinstance(found, Path) else None

    def _on_selected(self) -> None:
        if self.number is not None:
            self.picked.emit(self.number)

    # the lines ---------------------------------------------------------------------------

    def _make_lines(self, combinations: Sequence[CombinationResult], names: Sequence[str]) -> None:
        self.clear()
        self._names, self._order = [*names], [each.number for each in combinations]
        self.setHeaderLabels([*names, *_COLUMNS])
        room = self.fontMetrics().horizontalAdvance
        for place, title in enumerate([*names, *_COLUMNS]):
            is_number = place < len(names) + _FIGURES_SWEEP_TABLE
            self.headerItem().setTextAlignment(place, _RIGHT if is_number else _LEFT)
            self.headerItem().setToolTip(place, plain_tip((*([""] * len(names)), *_TIPS)[place]))
            wide = room(_WIDEST) if place >= len(names) else room("seed 12345")
            self.header().resizeSection(place, max(room(title), wide) + _AROUND_PX)
        self._runs.clear()
        self._lines = {each.number: self._line(each) for each in combinations}
        self.addTopLevelItems([*self._lines.values()])
        self.setRootIsDecorated(bool(self._runs))

    def _line(self, each: CombinationResult) -> _Line:
        line = _Line([*each.values.values()])
        for place, text in enumerate(each.values.values()):
            line.setData(place, _SORT, _number(text))
        _align(line, each.number, len(each.values))
        if len(each.runs) > 1:
            runs = self._runs[each.number] = [_Line() for _ in each.runs]
            for run in runs:
                _align(run, each.number, len(each.values))
            line.addChildren([*runs])
        return line

    def _show_line(self, result: SweepResult, each: CombinationResult) -> None:
        line, first = self._lines[each.number], len(each.values)
        for place, spread in enumerate((each.val_accuracy, each.test_accuracy), first):
            line.setText(place, spread_words(spread))
            line.setData(place, _SORT, _mean(spread))
        remark = combination_words(result, each)
        line.setText(first + _FIGURES_SWEEP_TABLE, remark)
        line.setToolTip(first + _FIGURES_SWEEP_TABLE, plain_tip(remark))
        for own, run in zip(self._runs.get(each.number, ()), each.runs, strict=False):
            _show_run(own, run, first)

    def _put_best_first(self, wanted: list[int]) -> None:
        """Restores the order of the result, unless a heading was clicked."""
        if self.header().sortIndicatorSection() >= 0 or self._order == wanted:
            return
        opened = [line for line in self._lines.values() if line.isExpanded()]
        top, self._order = self.invisibleRootItem(), wanted
        top.takeChildren()
        top.addChildren([self._lines[number] for number in wanted])
        for line in opened:
            line.setExpanded(True)


def _align(line: QTreeWidgetItem, number: int, num_values: int) -> None:
    line.setData(0, _NUMBER, number)
    for place in range(num_values + _FIGURES_SWEEP_TABLE):
        line.setTextAlignment(place, _RIGHT)


def _show_run(line: QTreeWidgetItem, run: SweepRun, first: int) -> None:
    own = run.trained
    line.setText(0, f"seed {own.seed}")
    line.setData(0, _RUN, Path(own.run.path))
    for place, value in enumerate((own.val_accuracy, own.test_accuracy), first):
        line.setText(place, share(value) if value is not None else "")
    words = "stopped early" if run.is_hopeless else outcome_words(own.outcome)
    line.setText(first + _FIGURES_SWEEP_TABLE, words)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _mean(spread: Spread | None) -> float:
    return spread.mean if spread is not None else -1.0


# sweep result --------------------------------------------------------------------------------

_FIGURES = (("parallel", "Parallel coordinates"), ("scatter", "Scatter plot"))
_EMPTY = "The project has no sweep yet. Choose settings and values under “Plan”, then start."
_OPEN = ("running", "silent", "waiting", "away")
_SIZES_PX = (300, 200)


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
        self._names: list[str] | None = None
        self._picked: int | None = None  # the best one, until another is
        self.head = plain_label(role="strong", wrap=True)
        self.notes = plain_label(role="dim", wrap=True)
        self.figure = SegmentedSwitch(_FIGURES)
        self.axis = NoWheelComboBox()
        self.menu_button = SaveFigureButton(theme, "figure")
        self.parallel, self.scatter = ParallelCoordinates(theme), TrialScatter(theme)
        self.table = SweepTable()
        self.use = button("Use this one", role="primary")
        self.show_run = button("Show run")
        self.stop = button("Stop sweep")
        self.said = plain_label(role="dim", wrap=True)
        self.footer = QWidget()
        self._pages = QStackedWidget()
        self._savers = {
            "parallel": self._saver("parallel-coordinates", self.parallel),
            "scatter": self._saver("scatter-plot", self.scatter),
        }
        self._build()
        self._connect()
        self.show_result(SweepResult(), {})

    def _saver(self, name: str, figure: TrialFigure) -> FigureSaver:
        def writer(path: Path) -> Callable[[], None]:
            return figure_file(path, figure, figure.accessibleName(), lambda: self._shown)

        return FigureSaver(self, self._background, name, "figure", writer)

    def _build(self) -> None:
        self.figure.set_current("parallel")
        self.axis.setAccessibleName("Setting of the scatter plot")
        self.axis.setSizeAdjustPolicy(NoWheelComboBox.SizeAdjustPolicy.AdjustToContents)
        for figure in (self.parallel, self.scatter):
            self._pages.addWidget(figure)
        figures = QWidget()
        head = row(self.figure, self.axis, STRETCH, self.menu_button, spacing=8)
        column(head, (self._pages, 1), parent=figures, spacing=6)
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.setChildrenCollapsible(False)
        for part in (figures, self.table):
            halves.addWidget(part)
        halves.setSizes([*_SIZES_PX])
        row(self.use, self.show_run, self.stop, (self.said, 1), parent=self.footer, spacing=8)
        column(self.head, (halves, 1), self.notes, parent=self, spacing=10)

    def _connect(self) -> None:
        self.figure.chosen.connect(self._show_figure)
        self.axis.currentIndexChanged.connect(self.scatter.set_axis)
        self.table.picked.connect(self._on_picked)
        self.table.itemDoubleClicked.connect(lambda *_of_item: self._on_show_run())
        self.use.clicked.connect(self._on_use)
        self.show_run.clicked.connect(self._on_show_run)
        self.stop.clicked.connect(self.stop_asked)
        for figure in (self.parallel, self.scatter):
            figure.chosen.connect(self.select)
        for saver in self._savers.values():
            saver.said.connect(self.said.setText)

    def _key(self) -> str:
        return "scatter" if self._pages.currentWidget() is self.scatter else "parallel"

    def _show_figure(self, key: str) -> None:
        self.figure.set_current(key)
        self._pages.setCurrentWidget(self.scatter if key == "scatter" else self.parallel)
        self.axis.setVisible(key == "scatter")
        self.menu_button.set_saver(self._savers[key])

    # the result --------------------------------------------------------------------------

    def show_result(self, result: SweepResult, titles: Mapping[str, str]) -> None:
        """Shows what a sweep has given so far; the titles are those of settings, by key."""
        table = result.csv_text() if result.runs else ""
        names = [titles.get(key, key) for key in result.keys]
        is_other = result.series != self.result.series
        if table == self._shown and names == self._names and not is_other:
            return
        if is_other:
            self._picked = None
        self.result, self._shown, self._names = result, table, names
        self.head.setText(_head(result, names))
        self.notes.setText(" ".join(result.notes()))
        self._show_trials(names)
        self.table.set_result(result, names)
        best = result.best.number if result.best is not None else None
        self._mark(self._picked if self._picked is not None else best)

    def _show_trials(self, names: Sequence[str]) -> None:
        trials = [
            Trial(
                each.combination,
                tuple(each.values.values()),
                accuracy,
                each.is_hopeless,
                _run_words(each),
            )
            for each in self.result.runs
            if (accuracy := each.trained.val_accuracy) is not None
        ]
        for figure in (self.parallel, self.scatter):
            figure.set_trials(names, trials)
        if [self.axis.itemText(place) for place in range(self.axis.count())] != [*names]:
            self.axis.clear()
            self.axis.addItems([*names])
        self._show_figure(self._key())

    # the chosen one ----------------------------------------------------------------------

    def chosen(self) -> CombinationResult | None:
        """The combination of the selected line."""
        number = self.table.number
        return next((each for each in self.result.combinations if each.number == number), None)

    def select(self, number: int) -> None:
        """Selects a combination; it stays selected while results arrive."""
        self._picked = number
        self._mark(number)

    def _mark(self, number: int | None) -> None:
        self.table.select(number)
        self._show_chosen()

    def _on_picked(self, number: int) -> None:
        self._picked = number
        self._show_chosen()

    def _show_chosen(self) -> None:
        number = self.table.number
        for figure in (self.parallel, self.scatter):
            figure.set_marked(number)
        for part in (self.use, self.show_run):
            part.setEnabled(number is not None)
        self.stop.setVisible(any(each.trained.outcome in _OPEN for each in self.result.runs))

    def _on_use(self) -> None:
        chosen = self.chosen()
        if chosen is not None:
            self.use_asked.emit(chosen)

    def _on_show_run(self) -> None:
        """Shows the run of the line; of a combination's line the best one."""
        chosen, run = self.chosen(), self.table.run
        if run is not None:
            self.run_asked.emit(run)
        elif chosen is not None:
            best = max(chosen.runs, key=lambda run: run.trained.val_accuracy or 0.0)
            self.run_asked.emit(best.trained.run.path)


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
    return f"{run.trained.label}: {accuracy}{early}"
