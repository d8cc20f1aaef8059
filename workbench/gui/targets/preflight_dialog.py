"""Will the project train on a TPU? For any TPU, with none at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QPlainTextEdit, QSizePolicy, QWidget

from workbench.client.service_process import Handlers, Question
from workbench.core.checks.problems import Fix, Problem
from workbench.core.format import bytes_text, count
from workbench.core.network.graph import Graph
from workbench.core.projects.project_file import project_text
from workbench.errors import RunError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.buttons import ElidedComboBox, button
from workbench.gui.kit.dialogs import DialogHead, WorkingDialog
from workbench.gui.kit.labels import Role, plain_label, set_role
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area, within_screen
from workbench.gui.kit.problem_list import ProblemList
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import CollapsibleSection, FactRows, WaitLabel
from workbench.gui.plots.sweep_plot import BatchSizePlot, BatchSizePoint
from workbench.hardware.tpu_chips import chip_choice
from workbench.preflight.compiler_environment import (
    DOWNLOAD_BYTES,
    INSTALLED_BYTES,
    CompilerEnvironment,
    License,
)
from workbench.preflight.report import fixes_of, memory_words
from workbench.protocol.bases import Answer
from workbench.protocol.preflight import (
    ESTIMATE_WORDS,
    HONESTY,
    LEVELS,
    Estimate,
    LargestBuffer,
    Level,
    LevelState,
    Memory,
    Preflight,
    PreflightPoint,
    PreflightReport,
    PreflightStage,
    ReportProblem,
    SweepPoint,
)
from workbench.targets import tpu_choices

# preflight report ----------------------------------------------------------------------------
# The answer to "will it train on this TPU?": verdict, how deep was looked, memory, time,
# batches, and the problems.

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
        for entry, level in enumerate(LEVELS):
            self._states[level] = plain_label(role="dim")
            self._words[level] = plain_label(role="dim", wrap=True)
            grid.addWidget(plain_label(_TITLES[level], role="strong"), entry, 0)
            grid.addWidget(self._states[level], entry, 1)
            grid.addWidget(self._words[level], entry, 2)
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


# install compiler dialog ---------------------------------------------------------------------
# Installs Google's TPU compiler, once its license has been read and accepted.

_EXPLANATION_INSTALL_COMPILER_DIALOG = (
    "Google's TPU compiler checks whether a model fits and estimates its speed. It is "
    f"downloaded from PyPI ({bytes_text(DOWNLOAD_BYTES)}) into its own folder "
    f"({bytes_text(INSTALLED_BYTES)}), which can be removed at any time. Optional: "
    "Workbench works without it. It has its own license from Google, shown here before "
    "the installation."
)


class InstallCompilerDialog(WorkingDialog):
    """Download, license, installation: one after another, each started by a click.

    Signals:
        installed: The compiler is there.
    """

    installed = Signal()

    def __init__(
        self, parent: QWidget | None = None, environment: CompilerEnvironment | None = None
    ) -> None:
        super().__init__("Google's TPU compiler", QSize(640, 560), parent)
        self._environment = environment or CompilerEnvironment()
        self._license: License | None = None
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("License of the TPU compiler")
        self.text.setPlaceholderText("The license appears here after the download.")
        self.next = button("", role="primary")
        self.next.clicked.connect(self._on_next)
        self.lay_out(
            plain_label("Google's TPU compiler", role="title"),
            plain_label(_EXPLANATION_INSTALL_COMPILER_DIALOG, role="dim", wrap=True),
            (self.text, 1),
            self.status,
            row(STRETCH, self.next, self.stop),
        )
        self._look()

    def _look(self) -> None:
        reason = self._environment.why_not()
        self.next.setVisible(not reason)
        if reason:
            self.status.say(reason, is_bad=True)
        elif self._environment.is_downloaded():
            self._show_license()
        else:
            self.next.setText(f"Download ({bytes_text(DOWNLOAD_BYTES)})")

    def _show_license(self) -> None:
        self.run(self._environment.license, self._on_license, "Reading the license")

    def _on_license(self, terms: License) -> None:
        self._license = terms
        self.text.setPlainText(terms.text)
        self.next.setText("Accept and install")
        self.status.say("By installing it you accept this license.")

    def _on_next(self) -> None:
        if self._license is None:
            self.run(
                lambda: self._environment.download(
                    on_progress=self.progressed.emit, check=self.check
                ),
                lambda _none: self._show_license(),
                "Downloading",
            )
            return
        accepted = self._license.sha256
        self.run(
            lambda: self._environment.install(
                accepted, on_progress=self.progressed.emit, check=self.check
            ),
            lambda _none: self._on_installed(),
            "Installing",
        )

    def _on_installed(self) -> None:
        self.next.hide()
        self.status.say("Installed. Preflight checks now use it.")
        self.installed.emit()

    def refresh(self) -> None:
        super().refresh()
        self.next.setEnabled(not self._background.is_busy)

    def check(self) -> None:
        if self._called_off.is_set():
            raise RunError("Canceled. Completed downloads are kept.")


# preflight dialog ----------------------------------------------------------------------------

SIZE = QSize(720, 760)
_EXPLANATION = (
    "Three checks, none needs a TPU: rules of the hardware, lowering of the training "
    "step with XLA, and compiling with Google's TPU compiler where it is installed."
)
_DEFAULT = ("v5e", "v5e-8")


class PreflightDialog(QDialog):
    """One page: which TPU, the verdict, what it rests on, what to do about it.

    Signals:
        chosen: Recipe values, when a proposed batch shall be used.
        fix_chosen: A `core.checks.problems.Fix` of the recipe or the network.
    """

    chosen = Signal(dict)
    fix_chosen = Signal(object)

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Will it train on a TPU? — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(within_screen(self, SIZE))
        self._context = context
        self._question = Question(context.measurer)
        self._suggested = 0
        self.generation = ElidedComboBox()
        self.generation.setAccessibleName("TPU generation")
        self.size_box = ElidedComboBox()
        self.size_box.setAccessibleName("TPU size")
        self.check = button("Check", role="primary")
        self.sweep = button("Try batch sizes")
        self.report = PreflightReportView(context.theme, lambda: context.document.graph)
        self.status = WaitLabel()
        self.use = button("", role="primary")
        self.compiler = button("Install Google's compiler…", role="link")
        self.close_button = button("Close")
        self.head = DialogHead("Will it train on a TPU?", _EXPLANATION, "preflight")
        self._build()
        self._fill()
        self._connect()
        self._show_buttons()

    # set-up --------------------------------------------------------------------------

    def _build(self) -> None:
        tpu = plain_label("TPU", role="dim")
        tpus = (tpu, self.generation, self.size_box, STRETCH, self.sweep, self.check)
        inner = QWidget()
        column(self.report, parent=inner, margins=(0, 0, 8, 0))
        report = scroll_area(inner)
        report.setFrameShape(QFrame.Shape.NoFrame)
        buttons = row(self.use, self.compiler, STRETCH, self.close_button, spacing=8)
        parts = (self.head, row(*tpus, spacing=8), (report, 1), self.status, buttons)
        column(*parts, parent=self, margins=(20, 18, 20, 16), spacing=12)
        self.check.setFocus()

    def _fill(self) -> None:
        for name, sizes in tpu_choices().items():
            self.generation.addItem(name, sizes)
        self.generation.currentIndexChanged.connect(self._fill_sizes)
        self.generation.setCurrentText(_DEFAULT[0])
        self._fill_sizes()

    def _fill_sizes(self) -> None:
        self.size_box.clear()
        for name, words in self.generation.currentData():
            self.size_box.addItem(words, name)
        at = self.size_box.findData(_DEFAULT[1])
        self.size_box.setCurrentIndex(max(at, 0))

    def _connect(self) -> None:
        self.size_box.currentIndexChanged.connect(lambda _at: self._on_tpu_changed())
        self.check.clicked.connect(lambda _=False: self.start())
        self.sweep.clicked.connect(lambda: self.start(sweep=True))
        self.use.clicked.connect(self._on_use)
        self.close_button.clicked.connect(self._on_close)
        self.report.problems.fix_chosen.connect(self._on_fix)

    def _on_tpu_changed(self) -> None:
        """Removes what was found out, which is about another TPU."""
        if self.size_box.currentData() is None or self.is_looking:
            return
        self._suggested = 0
        self.report.clear()
        self.report.set_outdated(f"{self.size_box.currentData()} has not been checked.")
        self._show_buttons()

    # the look ------------------------------------------------------------------------

    @property
    def is_looking(self) -> bool:
        """Whether answers are still to come."""
        return self._question.is_open

    def start(self, *, sweep: bool = False) -> None:
        """Looks at the project as it is now; with `sweep` at many batches too."""
        self._suggested = 0
        self.report.clear()
        request = Preflight(
            id=0,
            project=project_text(self._context.document.project),
            tpu=self.size_box.currentData(),
            sweep=sweep,
        )
        self._question.ask(
            request,
            Handlers(
                on_done=lambda answer: self._on_report(answer.report),
                on_failed=self._on_failed,
                on_progress=lambda progress: self.status.wait_for(progress.text),
                on_part=self._on_part,
            ),
        )
        self.status.wait_for("Starting")
        self._show_buttons()

    def _on_part(self, answer: Answer) -> None:
        if isinstance(answer, PreflightStage):
            self.report.set_stage(answer)
        elif isinstance(answer, PreflightPoint):
            self.report.add_point(answer.point)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.status.say("")
        self.report.verdict.setText(str(error))
        set_role(self.report.verdict, "bad")
        self._show_buttons()

    def _on_report(self, report: PreflightReport) -> None:
        self.status.say("")
        self.report.set_report(report)
        batch = self._context.document.project.recipe.batch_size
        self._suggested = report.suggested_batch if report.suggested_batch != batch else 0
        if self._suggested:
            cores = chip_choice(report.tpu).cores
            each = count(self._suggested // cores)
            self.use.setText(f"Use batch {each} × {count(cores)} = {count(self._suggested)}")
        self._show_buttons()

    def _show_buttons(self) -> None:
        has_compiler = CompilerEnvironment().is_installed()
        self.compiler.setVisible(not has_compiler)
        self.check.setEnabled(not self.is_looking)
        self.sweep.setEnabled(has_compiler and not self.is_looking)
        tip = "Compiles many batch sizes and shows the fastest; takes a few minutes."
        self.sweep.setToolTip(tip if has_compiler else "Needs Google's compiler.")
        self.use.setVisible(bool(self._suggested) and not self.is_looking)
        self.close_button.setText("Cancel" if self.is_looking else "Close")

    def _on_use(self) -> None:
        self.chosen.emit({"batch_size": self._suggested})
        self.start()

    def _on_fix(self, fix: Fix) -> None:
        self.fix_chosen.emit(fix)
        self.start()

    def _on_close(self) -> None:
        if self.is_looking:
            self._question.drop()
            self.status.say("Canceled.")
            self._show_buttons()
        else:
            self.reject()

    def done(self, result: int) -> None:
        """Ends the worker's request, however the dialog is closed."""
        self._question.drop()
        super().done(result)
