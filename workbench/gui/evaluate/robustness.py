"""Accuracy of the run on altered test images: a table, a curve, and measuring it again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from workbench.alterations import strength_words
from workbench.client.service_process import Handlers, Question
from workbench.core.format import count, plural, share
from workbench.core.projects.project import RobustnessTest
from workbench.errors import WorkbenchError
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton, figure_file
from workbench.gui.common.run_text import when
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.kit.buttons import SegmentedSwitch, button, show_instead
from workbench.gui.kit.labels import plain_label, plain_tip, set_role
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import PaintedWidget, TitledBox
from workbench.gui.tables import Cell, Column, NumberTable
from workbench.protocol.messages import Progress
from workbench.protocol.trained.robustness import (
    AlteredAccuracy,
    MeasureRobustness,
    NamedStrengths,
    Robustness,
)
from workbench.runs.export.tables import robustness_csv
from workbench.runs.folder import RunFolder
from workbench.runs.log.texts import chosen_words
from workbench.runs.store.evaluation import KeptRobustness, read_robustness

# robustness plot -----------------------------------------------------------------------------
# Accuracy over the strength of alterations: a line for each, one of them chosen.

_HEIGHT_PX = 168
_LEFT_PX, _RIGHT_PX, _TOP_PX, _BOTTOM_PX = 44, 16, 28, 22
_DOT_PX = 3.5
_SHARES = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class RobustnessLine:
    """What was measured of one alteration of a test, or of all its alterations together.

    Attributes:
        test: Name of the test.
        words: The test's full strength in words.
        points: (level 0..1, accuracy 0..1), the unaltered images first.
    """

    test: str
    words: str
    points: tuple[tuple[float, float], ...]

    @property
    def lost(self) -> float:
        """Accuracy lost at the full strength, -1..1."""
        return self.points[0][1] - self.points[-1][1]


def lines_of(result: Robustness) -> list[RobustnessLine]:
    """The lines in the order in which they were measured."""
    found: dict[tuple[str, ...], list[AlteredAccuracy]] = {}
    for case in result.measured:
        found.setdefault((case.test, *case.strengths), []).append(case)
    return [
        RobustnessLine(
            test=cases[-1].test,
            words=strength_words(cases[-1].strengths),
            points=((0.0, result.accuracy), *((each.level, each.accuracy) for each in cases)),
        )
        for cases in found.values()
    ]


class RobustnessPlot(PaintedWidget):
    """The lines, from unaltered at the left to the full strength at the right."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, QSize(360, _HEIGHT_PX), least_px=240)
        self.setAccessibleName("Accuracy over the strength of alterations")
        self._lines: list[RobustnessLine] = []
        self.chosen = -1

    def set_lines(self, lines: Sequence[RobustnessLine], chosen: int) -> None:
        """Shows lines; the chosen one, by its number, stands out."""
        self._lines, self.chosen = list(lines), chosen
        self.setAccessibleDescription(
            "; ".join(
                f"{line.words}: {', '.join(share(accuracy) for _, accuracy in line.points)}"
                for line in lines
            )
        )
        self.update()

    def paint(self, painter: QPainter) -> None:
        painter.setFont(self._theme.font(11, tabular=True))
        area = QRectF(self.rect()).adjusted(_LEFT_PX, _TOP_PX, -_RIGHT_PX, -_BOTTOM_PX)
        self._paint_axes(painter, area)
        order = sorted(range(len(self._lines)), key=lambda at: at == self.chosen)
        for at in order:
            self._paint_line(painter, area, self._lines[at], is_chosen=at == self.chosen)
        if 0 <= self.chosen < len(self._lines):
            self._paint_name(painter, area, self._lines[self.chosen])

    def _paint_axes(self, painter: QPainter, area: QRectF) -> None:
        colors = self._theme.colors
        for value in _SHARES:
            left, right = _at(area, 0, value), _at(area, 1, value)
            painter.setPen(QPen(QColor(colors.line), 1))
            painter.drawLine(left, right)
            painter.setPen(QColor(colors.dim))
            place = QRectF(0, left.y() - 8, _LEFT_PX - 6, 16)
            right_middle = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(place, right_middle, share(value, 0))
        for level, words, side in (
            (0.0, "unaltered", Qt.AlignmentFlag.AlignLeft),
            (0.5, "half strength", Qt.AlignmentFlag.AlignHCenter),
            (1.0, "full strength", Qt.AlignmentFlag.AlignRight),
        ):
            x = _at(area, level, 0).x()
            start = {0.0: x, 0.5: x - 60, 1.0: x - 120}[level]
            painter.drawText(QRectF(start, area.bottom() + 4, 120, 16), side, words)

    def _paint_name(self, painter: QPainter, area: QRectF, line: RobustnessLine) -> None:
        painter.setFont(self._theme.font(12, weight=600))
        painter.setPen(QColor(self._theme.colors.accent))
        words = f"{line.test}: {line.words}" if line.test != line.words else line.words
        mode = Qt.TextElideMode.ElideMiddle
        words = painter.fontMetrics().elidedText(words, mode, int(area.width()))
        painter.drawText(
            QRectF(area.left(), 0, area.width(), 18), Qt.AlignmentFlag.AlignLeft, words
        )

    def _paint_line(
        self, painter: QPainter, area: QRectF, line: RobustnessLine, *, is_chosen: bool
    ) -> None:
        colors = self._theme.colors
        color = QColor(colors.accent if is_chosen else colors.faint)
        painter.setPen(QPen(color, 2.5 if is_chosen else 1.2))
        points = [_at(area, level, accuracy) for level, accuracy in line.points]
        for start, end in pairwise(points):
            painter.drawLine(start, end)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        for point in points if is_chosen else ():
            painter.drawEllipse(point, _DOT_PX, _DOT_PX)


def _at(area: QRectF, level: float, accuracy: float) -> QPointF:
    return QPointF(area.left() + level * area.width(), area.bottom() - accuracy * area.height())


# robustness ----------------------------------------------------------------------------------

COLUMNS = (
    Column("Alteration"),
    Column("Mean", 70, "Mean of the accuracies at all strengths that are drawn"),
    Column("Full", 70, "Accuracy at the full strength"),
    Column("Lost, points", 90, "Accuracy lost at the full strength, in percentage points"),
)
SUITE, TESTS = "suite", "tests"
NO_SUITE = (
    "This run has not been measured on the suite yet. Measure does so: seven alterations, "
    "brightness both ways, at five strengths each."
)
NO_TESTS = (
    "This project has no robustness test yet. Alter a picture in Classify under What-if, and "
    "choose Save as robustness test: each later run is measured on it."
)
NOT_YET = "This run has not been measured on the robustness tests of the project yet."
STALE = "The weights have changed since. Measure again for the accuracies of the present ones."


class RobustnessPanel(TitledBox):
    """What is kept with the chosen run; `measure` replaces it."""

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("Robustness")
        theme = state.context.theme
        self._state = state
        self._question = Question(state.context.measurer)
        self._run: Path | None = None
        self._kinds: dict[str, KeptRobustness | None] = {SUITE: None, TESTS: None}
        self._is_chosen = False  # by the user
        self.kind = TESTS
        self.switch = SegmentedSwitch(((SUITE, "Suite"), (TESTS, "Tests of the project")))
        self._lines: list[RobustnessLine] = []
        self.subject = plain_label(role="dim", wrap=True)
        self.plot = RobustnessPlot(theme)
        self.table = NumberTable(theme, "Accuracy on altered test images", COLUMNS)
        self.status = plain_label(role="dim", wrap=True)
        self.start = button("Measure")
        self.cancel = button("Cancel")
        self.tests = button("Tests")
        self.what_if = button("Open What-if")
        self.menu_button = SaveFigureButton(theme, "robustness")
        self._results, self._pages = QWidget(), QStackedWidget()
        self.setMinimumWidth(400)
        self._build()
        self._connect()
        self._show()

    def _build(self) -> None:
        self.cancel.hide()
        self.tests.setMenu(QMenu(self))
        self.saver = FigureSaver(
            self, self._state.background, "robustness", "robustness", self._writer
        )
        self.menu_button.set_saver(self.saver)
        head = row((self.subject, 1), self.menu_button, spacing=8)
        column(head, self.plot, (self.table, 1), parent=self._results, spacing=6)
        empty = QWidget()
        column(row(self.what_if, STRETCH), STRETCH, parent=empty)
        self._pages.addWidget(empty)
        self._pages.addWidget(self._results)
        self.column.addLayout(row(self.switch, STRETCH))
        self.column.addWidget(self.status)
        # Below the words about it: in a low window the end of the panel is scrolled to.
        self.column.addLayout(row(self.start, self.cancel, self.tests, STRETCH, spacing=8))
        self.column.addWidget(self._pages, 1)

    def _connect(self) -> None:
        state, document = self._state, self._state.context.document
        state.looked.connect(self._read)
        state.closing.connect(self._question.drop)
        self.saver.said.connect(state.said)
        self.switch.chosen.connect(self.choose_kind)
        self.start.clicked.connect(self.measure)
        self.cancel.clicked.connect(self._question.cancel)
        self.what_if.clicked.connect(lambda _=False: state.what_if_wanted.emit())
        self.table.chosen.connect(self._choose)
        self.tests.menu().aboutToShow.connect(self._fill_tests)
        for signal in (document.robustness_changed, document.project_replaced):
            signal.connect(self._show)

    # what is kept --------------------------------------------------------------------------

    def _read(self) -> None:
        """Reads what is kept with the chosen run; a measurement of another one is given up."""
        run = self._state.run
        if run != self._run:
            self._question.drop()
            self._end()
            self._run, self._kinds = run, {SUITE: None, TESTS: None}
            self._show()
        if run is not None and not self._question.is_open:
            for kind in (SUITE, TESTS):
                self._state.background.run(
                    partial(read_robustness, RunFolder(run), is_suite=kind == SUITE),
                    partial(self._take, run, kind),
                    partial(self._on_unreadable, run),
                )

    @property
    def kept(self) -> KeptRobustness | None:
        """The measurement that is shown."""
        return self._kinds[self.kind]

    def choose_kind(self, kind: str) -> None:
        """Shows, and measures from now on, the suite or the tests of the project."""
        self.kind, self._is_chosen = kind, True
        self._show()

    def _take(self, run: Path, kind: str, kept: KeptRobustness | None) -> None:
        if run == self._run and not self._question.is_open and kept is not None:
            self._kinds[kind] = kept
            self._show()

    def _on_unreadable(self, run: Path, error: WorkbenchError) -> None:
        if run == self._run and not self._question.is_open:
            self._fail(error)

    # measuring -----------------------------------------------------------------------------

    def measure(self) -> None:
        """Measures the chosen run on the tests of the open project."""
        run = self._run
        if run is None or self._question.is_open:
            return
        checksum = self._state.known.checksum if self._state.known is not None else ""

        def take(answer: Robustness) -> None:
            kept = KeptRobustness(result=answer, checksum=checksum, created=time.time())
            self._kinds[TESTS if answer.mean_accuracy is None else SUITE] = kept
            self._end()
            self._show()

        tests = [
            NamedStrengths(name=test.name, strengths=dict(test.strengths)) for test in self._tests
        ]
        show_instead(self.cancel, self.start)
        self._say("Measuring on altered test images")
        self._question.ask(
            MeasureRobustness(id=0, model=str(run), tests=tests, is_suite=self.kind == SUITE),
            Handlers(on_done=take, on_failed=self._fail, on_progress=self._on_progress),
        )

    @property
    def _tests(self) -> tuple[RobustnessTest, ...]:
        return self._state.context.document.project.robustness

    def _on_progress(self, progress: Progress) -> None:
        part = f", {share(progress.fraction, 0)}" if progress.fraction else ""
        self._say(f"{progress.text}{part}")

    def _fail(self, error: WorkbenchError) -> None:
        self._end()
        self._show()
        self._say(error.brief, role="bad")

    def _end(self) -> None:
        show_instead(self.start, self.cancel)

    # showing -------------------------------------------------------------------------------

    def _show(self) -> None:
        if not self._is_chosen:
            self.kind = TESTS if self._tests or self._kinds[TESTS] is not None else SUITE
        self.switch.set_current(self.kind)
        result = self.kept.result if self.kept is not None else None
        is_suite = self.kind == SUITE
        self.what_if.setVisible(not self._tests and not is_suite)
        self.start.setEnabled(self._run is not None and (bool(self._tests) or is_suite))
        self.start.setText("Measure" if result is None else "Measure again")
        self.tests.setVisible(bool(self._tests) and not is_suite)
        self.tests.setText(plural(len(self._tests), "test"))
        self._pages.setCurrentIndex(0 if result is None else 1)
        if not self._question.is_open:
            self._say(self._remark())
        if self.kept is None or result is None:
            return
        used = count(result.count)
        of_all = f" of {count(result.total)}" if result.count < result.total else ""
        weights = chosen_words(result.weights)
        parts = (
            f"{used}{of_all} test images",
            f"unaltered {share(result.accuracy)}",
            f"mean corruption accuracy {share(result.mean_accuracy)}" if is_suite else "",
            f"weights: {weights}" if weights else "",
            when(self.kept.created),
        )
        self.subject.setText(" · ".join(filter(None, parts)))
        self._lines = lines_of(result)
        several = len({line.test for line in self._lines}) > 1
        self.table.set_rows([_row(line, with_test=several) for line in self._lines])
        lost = [line.lost for line in self._lines]
        self._choose(lost.index(max(lost)) if lost else -1)

    def _choose(self, number: int) -> None:
        """Chooses the line that stands out: at first the one that loses most."""
        self.plot.set_lines(self._lines, number)

    def _remark(self) -> str:
        if self.kept is None:
            return NO_SUITE if self.kind == SUITE else NOT_YET if self._tests else NO_TESTS
        now = self._state.known.checksum if self._state.known is not None else ""
        if now and self.kept.checksum and now != self.kept.checksum:
            return STALE
        if self.kind == SUITE:
            return ""
        measured = {case.test: case.strengths for case in self.kept.result.measured}
        missing = [test.name for test in self._tests if measured.get(test.name) != test.strengths]
        if not missing:
            return ""
        names = ", ".join(f"“{name}”" for name in missing)
        return f"Not measured yet: {names}. Measure again to include it."

    def _say(self, words: str, *, role: str = "dim") -> None:
        self.status.setText(words)
        set_role(self.status, role)
        self.status.setVisible(bool(words))

    # tests and files -----------------------------------------------------------------------

    def _fill_tests(self) -> None:
        menu = self.tests.menu()
        menu.clear()
        for test in self._tests:
            words = strength_words(test.strengths)
            # A single "&" would mark the next letter as a mnemonic.
            name = test.name.replace("&", "&&")
            action = menu.addAction(f"Remove “{name}”", partial(self.remove, test.name))
            action.setToolTip(plain_tip(words))
        menu.setToolTipsVisible(True)

    def remove(self, name: str) -> None:
        """Takes a test out of the project; what was measured stays."""
        left = tuple(test for test in self._tests if test.name != name)
        text = f"Remove robustness test “{name}”"
        self._state.context.document.set_robustness(left, text)

    def _writer(self, path: Path) -> Callable[[], None]:
        kept = self.kept
        return figure_file(
            path,
            self.plot,
            "Accuracy on altered test images",
            lambda: robustness_csv(kept.result) if kept is not None else "",
        )


def _row(line: RobustnessLine, *, with_test: bool) -> Sequence[Cell]:
    """A line of the table."""
    words = f"{line.test}: {line.words}" if with_test and line.test != line.words else line.words
    altered = [accuracy for _, accuracy in line.points[1:]]
    mean, full = sum(altered) / len(altered), altered[-1]
    lost = 100 * line.lost
    return (
        Cell(words),
        Cell(share(mean), mean),
        Cell(share(full), full),
        Cell(f"{lost:.1f}", lost),
    )
