"""Will the project train on a TPU? For any TPU, with none at hand."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QFrame, QWidget

from workbench.client.question import Handlers, Question
from workbench.core.checks.problems import Fix
from workbench.core.format import count
from workbench.core.projects.project_file import project_text
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.buttons import button
from workbench.gui.kit.combo import ElidedComboBox
from workbench.gui.kit.dialog_head import DialogHead
from workbench.gui.kit.labels import plain_label, set_role
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area, within_screen
from workbench.gui.kit.wait_label import WaitLabel
from workbench.gui.targets.preflight_report import PreflightReportView
from workbench.hardware.tpu_chips import chip_choice
from workbench.preflight.compiler_environment import CompilerEnvironment
from workbench.protocol.bases import Answer
from workbench.protocol.preflight import Preflight, PreflightPoint, PreflightReport, PreflightStage
from workbench.targets import tpu_choices

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
