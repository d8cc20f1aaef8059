"""The answer to "will it train on this TPU?": verdict, how deep was looked, memory, time,
batches, and the problems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from workbench.core.checks.problems import Problem
from workbench.core.format import bytes_text, count
from workbench.core.network.graph import Graph
from workbench.gui.kit.cards import FactRows
from workbench.gui.kit.collapsible import CollapsibleSection
from workbench.gui.kit.labels import Role, plain_label, set_role
from workbench.gui.kit.layout import STRETCH, column
from workbench.gui.kit.problem_list import ProblemList
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.sweep_plot import BatchSizePlot, BatchSizePoint
from workbench.hardware.tpu_chips import chip_choice
from workbench.preflight.reported import fixes_of
from workbench.preflight.verdict import memory_words
from workbench.protocol.preflight import (
    ESTIMATE_WORDS,
    HONESTY,
    LEVELS,
    Estimate,
    LargestBuffer,
    Level,
    LevelState,
    Memory,
    PreflightReport,
    PreflightStage,
    ReportProblem,
    SweepPoint,
)

_TITLES: dict[Level, str] = {
    "rules": "Rules",
    "lowering": "Lowering",
    "compiler": "TPU compiler",
}

_STATES: dict[LevelState, tuple[str, Role]] = {
    "running": ("Running…", "dim"),
    "passed": ("Passed", "good"),
    "refused": ("Failed", "bad"),
    "skipped": ("Not run", "dim"),
    "unfinished": ("No result", "warning"),
}

_BAR_PX = 12


class LevelRows(QWidget):
    """A row for each level: its name, what came out, what that is worth."""

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(2, 1)
        self._states = {}
        self._words = {}
        for row, level in enumerate(LEVELS):
            self._states[level] = plain_label(role="dim")
            self._words[level] = plain_label(role="dim", wrap=True)
            grid.addWidget(plain_label(_TITLES[level], role="strong"), row, 0)
            grid.addWidget(self._states[level], row, 1)
            grid.addWidget(self._words[level], row, 2)
        self.clear()

    def clear(self) -> None:
        """Marks all levels as not looked at."""
        for level in LEVELS:
            self.set_state(level, "skipped", "")

    def set_state(self, level: Level, state: LevelState, words: str) -> None:
        """Shows how far a level is; without words, what its answer is worth."""
        text, role = _STATES[state]
        self._states[level].setText(text)
        set_role(self._states[level], role)
        self._words[level].setText(words or HONESTY[level])


class MemoryBar(QWidget):
    """What a step needs of a core's memory, to scale; red where it is more than there is."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._memory: Memory | None = None
        self._is_tight = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_memory(self, memory: Memory, *, is_tight: bool) -> None:
        """Shows this much of that."""
        self._memory, self._is_tight = memory, is_tight
        self.setAccessibleName(needs_words(memory))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, _BAR_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._memory is None:
            return
        colors, memory = self._theme.colors, self._memory
        scale = self.width() / max(memory.needs_bytes, memory.has_bytes, 1)
        fits = memory.needs_bytes <= memory.has_bytes
        used = colors.bad if not fits else colors.warning if self._is_tight else colors.good
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for color, amount in ((colors.line, memory.has_bytes), (used, memory.needs_bytes)):
            painter.setBrush(QColor(color))
            painter.drawRoundedRect(QRectF(0, 0, amount * scale, _BAR_PX), 4, 4)
        if not fits:
            painter.setBrush(QColor(colors.text))
            painter.drawRect(QRectF(memory.has_bytes * scale - 1, 0, 2, _BAR_PX))


class PreflightReportView(QWidget):
    """Fills while levels and batches come in, then shows the whole report.

    Args:
        theme: Colors.
        graph: Gives the network as it is now, which fixes are for.

    Attributes:
        problems: What is against it; emits the fixes and problems that are chosen.
    """

    def __init__(self, theme: Theme, graph: Callable[[], Graph]) -> None:
        super().__init__()
        self._graph = graph
        self.verdict = plain_label(role="strong", wrap=True)
        self.levels = LevelRows()
        self.memory_words = plain_label(role="text", wrap=True)
        self.memory = MemoryBar(theme)
        self.estimate = plain_label(role="text", wrap=True)
        self.sweep_title = plain_label("Images/s by batch per core", role="heading")
        self.sweep_note = plain_label(ESTIMATE_WORDS.capitalize(), role="dim")
        self.sweep = BatchSizePlot(theme)
        self.problems = ProblemList()
        self.buffers = CollapsibleSection("Largest buffers")
        self.buffer_facts = FactRows()
        self.buffers.body.addWidget(self.buffer_facts)
        found = (self.verdict, self.levels, self.memory_words, self.memory, self.estimate)
        sweep = (self.sweep_title, self.sweep, self.sweep_note)
        column(*found, self.problems, *sweep, self.buffers, STRETCH, parent=self, spacing=10)
        self._points: list[SweepPoint] = []
        self.clear()

    def clear(self) -> None:
        """Removes everything before another check."""
        self._points = []
        self.verdict.setText("")
        self.levels.clear()
        self._show_memory(None, is_tight=False)
        self._show_estimate(None)
        self._show_sweep([], 0)
        self._show_buffers([])
        self.problems.set_problems(())

    def set_outdated(self, words: str) -> None:
        """Shows why there is no verdict."""
        self.verdict.setText(words)
        set_role(self.verdict, "dim")

    def set_stage(self, stage: PreflightStage) -> None:
        """Shows what is known once a level has begun or ended."""
        self.levels.set_state(stage.level, stage.state, stage.words)
        if stage.memory is not None:
            self._show_memory(stage.memory, is_tight=False)
        if stage.estimate is not None:
            self._show_estimate(stage.estimate)
        if stage.largest:
            self._show_buffers(stage.largest)
        if stage.problems:
            self._show_problems(stage.problems)

    def add_point(self, point: SweepPoint) -> None:
        """Adds one batch of the sweep."""
        self._points.append(point)
        self._show_sweep(self._points, 0)

    def set_report(self, report: PreflightReport) -> None:
        """Shows all that was found out."""
        self.verdict.setText(report.verdict)
        has_errors = any(problem.severity == "error" for problem in report.problems)
        set_role(self.verdict, "bad" if not report.ok or has_errors else "good")
        self._show_memory(report.memory, is_tight=report.is_tight)
        self._show_estimate(report.estimate)
        self._show_sweep(report.sweep, report.suggested_batch // chip_choice(report.tpu).cores)
        self._show_buffers(report.largest)
        self._show_problems(report.problems)

    def _show_problems(self, problems: Sequence[ReportProblem]) -> None:
        graph = self._graph()
        self.problems.set_problems([as_problem(problem, graph) for problem in problems])

    def _show_memory(self, memory: Memory | None, *, is_tight: bool) -> None:
        self.memory.setVisible(memory is not None)
        self.memory_words.setVisible(memory is not None)
        if memory is not None:
            self.memory.set_memory(memory, is_tight=is_tight)
            tight = ": tight; prefetched batches and validation need memory too" if is_tight else ""
            self.memory_words.setText(needs_words(memory) + tight)

    def _show_estimate(self, estimate: Estimate | None) -> None:
        self.estimate.setVisible(estimate is not None)
        if estimate is not None:
            self.estimate.setText(estimate_words(estimate))

    def _show_sweep(self, points: Sequence[SweepPoint], chosen: int) -> None:
        for widget in (self.sweep_title, self.sweep, self.sweep_note):
            widget.setVisible(bool(points))
        self.sweep.set_result([_bar(point) for point in points], chosen or None)

    def _show_buffers(self, buffers: Sequence[LargestBuffer]) -> None:
        self.buffers.setVisible(bool(buffers))
        self.buffer_facts.set_facts((each.words, bytes_text(each.bytes)) for each in buffers)


def needs_words(memory: Memory) -> str:
    """What is needed of what there is, in the verdict's units."""
    return f"Needs {memory_words(memory)} per core"


def estimate_words(estimate: Estimate) -> str:
    """A step's time and speed, never without its source."""
    return (
        f"{estimate.step_ms:.2f} ms per step · "
        f"{count(round(estimate.images_per_second))} images/s · "
        f"{estimate.bound}-bound ({ESTIMATE_WORDS})"
    )


def as_problem(problem: ReportProblem, graph: Graph) -> Problem:
    """The problem as the list of problems takes it: what can be applied to the network as it is now
    is a button, the rest is text.
    """
    buttons = fixes_of(problem, graph)
    keys = {fix.key for fix in buttons}
    others = [f"{fix.title}." for fix in problem.fixes if fix.key not in keys]
    return Problem(
        title=problem.title,
        message=" ".join([problem.message, *others]),
        node=problem.node if problem.node in graph.nodes else None,
        severity=problem.severity,
        offers=buttons,
    )


def _bar(point: SweepPoint) -> BatchSizePoint:
    return BatchSizePoint(
        batch_size=point.per_core_batch,
        images_per_second=point.estimate.images_per_second if point.estimate else None,
        memory_bytes=point.memory.needs_bytes if point.memory else None,
        problem=point.problem,
    )
