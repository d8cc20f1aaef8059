"""What the panels of the evaluate view share: the evaluation that is shown."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.client.question import Handlers, Question
from workbench.core.format import share
from workbench.core.projects.project import Choice
from workbench.gui.common.context import WindowContext
from workbench.protocol.messages import Evaluate, Evaluation, Progress
from workbench.runs.log.scores import test_set_words, weights_words


class EvaluateState(QObject):
    """Evaluates one run at a time.

    Signals:
        started(): A run is being evaluated.
        progressed(str): What is being done.
        evaluated(Evaluation): It ended with this answer.
        failed(WorkbenchError): It ended without one.

    Attributes:
        context: The parts that all views work with.
        evaluation: The latest answer; None before the first.
        subject: What it is of, e.g. "Run “cifar”, test set".
    """

    started = Signal()
    progressed = Signal(str)
    evaluated = Signal(object)
    failed = Signal(object)

    def __init__(self, context: WindowContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.evaluation: Evaluation | None = None
        self.subject = ""
        self._latest: dict[Path, tuple[Evaluation, str]] = {}
        self._question = Question(context.service)

    @property
    def is_busy(self) -> bool:
        """Whether an evaluation is under way."""
        return self._question.is_open

    def evaluate(self, run: Path, subject: str, source: Choice | None = None) -> None:
        """Evaluates a run, unless another evaluation goes on.

        Args:
            run: Folder of the run.
            subject: What is evaluated, in words.
            source: The images; None for the test images of the run.
        """
        if self.is_busy:
            return

        def show(answer: Evaluation) -> None:
            words = weights_words(answer.weights)
            weights = f" · weights: {words}" if words else ""
            self._latest[run] = (answer, f"{subject}{weights}")
            self.show_latest(run)

        self.started.emit()
        key, params = (source.key, dict(source.params)) if source else ("", {})
        self._question.ask(
            Evaluate(id=0, model=str(run), source=key, params=params),
            Handlers(on_done=show, on_failed=self.failed.emit, on_progress=self._on_progress),
        )

    def show_latest(self, run: Path) -> bool:
        """Shows the latest evaluation of a run again; False where it has none yet."""
        if run not in self._latest:
            return False
        self.evaluation, self.subject = self._latest[run]
        self.evaluated.emit(self.evaluation)
        return True

    def remark_on(self, run: Path | None) -> str:
        """What qualifies the latest scores of a run; "" where nothing does."""
        latest = self._latest.get(run) if run is not None else None
        is_on_test = latest is not None and latest[0].is_validated_on_test
        return test_set_words(is_validated_on_test=is_on_test)

    def cancel(self) -> None:
        """Ends the evaluation."""
        self._question.cancel()

    def _on_progress(self, progress: Progress) -> None:
        part = f", {share(progress.fraction, 0)}" if progress.fraction else ""
        self.progressed.emit(f"{progress.text}{part}")
