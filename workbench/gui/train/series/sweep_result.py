"""What a sweep has given: two figures and a table of its combinations, and one to be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from workbench.client.background import Background
from workbench.core.format import plural, share, within_sentence
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.buttons import SegmentedSwitch, button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.figure_file import figure_file
from workbench.gui.plots.trials.figure import Trial, TrialFigure
from workbench.gui.plots.trials.parallel_coordinates import ParallelCoordinates
from workbench.gui.plots.trials.scatter import TrialScatter
from workbench.gui.train.series.sweep_table import SweepTable
from workbench.runs.library.series import spread_words
from workbench.runs.library.sweep_result import CombinationResult, SweepResult, SweepRun

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
