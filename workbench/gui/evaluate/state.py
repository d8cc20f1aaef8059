"""What the panels of the evaluate view share: the evaluation that is shown."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.core.format import share
from workbench.core.projects.project import Choice
from workbench.gui.common.context import WindowContext
from workbench.gui.common.run_text import when
from workbench.protocol.messages import Progress
from workbench.protocol.trained.evaluate import Evaluate, Evaluation
from workbench.runs.folder import RunFolder
from workbench.runs.log.scores import chosen_words, test_set_words
from workbench.runs.store.evaluation import KeptEvaluation, KnownScores, known_scores

STALE = (
    "The weights have changed since this evaluation. Evaluate again for the scores of the present "
    "ones."
)


class EvaluateState(QObject):
    """Evaluates one run at a time, and shows the latest evaluation of the chosen one, also of an
    earlier session.

    Signals:
        started(): A run is being evaluated.
        progressed(str): What is being done.
        ended(): It ended, with an answer or without.
        evaluated(Evaluation): This evaluation is to be shown.
        failed(WorkbenchError): It ended without an answer, or the kept one cannot be read.
        cell_pointed(int, int): A cell of the confusion matrix is to be marked: the number of the
            actual class, and of the predicted one.
        images_wanted(int, int): The images of these classes are to be shown, the actual one and the
            predicted one; -1 for any.
        train_again(Path): The project is to be trained from the weights of the run in this folder.
        said(str): What was saved, or why not.
        closing(): The window closes.
        looked(): What the folder of the chosen run has of scores is known now.

    Attributes:
        context: The parts that all views work with.
        evaluation: The one that is shown; None before the first.
        subject: What it is of, e.g. "Run “cifar”, test set".
        known: What the folder of the chosen run has; None until that was read.
    """

    started = Signal()
    progressed = Signal(str)
    ended = Signal()
    evaluated = Signal(object)
    failed = Signal(object)
    closing = Signal()
    looked = Signal()
    cell_pointed = Signal(int, int)
    images_wanted = Signal(int, int)
    train_again = Signal(object)
    said = Signal(str)

    def __init__(self, context: WindowContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.background = Background(self, max_threads=1)
        self.evaluation: Evaluation | None = None
        self.subject = ""
        self.known: KnownScores | None = None
        self._run: Path | None = None
        self._title = ""
        self._latest: dict[Path, KeptEvaluation] = {}
        self._question = Question(context.service)

    @property
    def is_busy(self) -> bool:
        """Whether an evaluation is under way."""
        return self._question.is_open

    # evaluating --------------------------------------------------------------------------

    def evaluate(self, source: Choice | None = None) -> None:
        """Evaluates the chosen run, unless another evaluation goes on.

        Args:
            source: The images; None for the test images of the run.
        """
        run = self._run
        if self.is_busy or run is None:
            return
        key, params = (source.key, dict(source.params)) if source else ("", {})

        def take(answer: Evaluation) -> None:
            # Its checksum is known once the file is read that the worker keeps.
            self._latest[run] = KeptEvaluation(
                result=answer, source=key, params=params, created=time.time()
            )
            self.ended.emit()
            self.show_latest()
            self.look()

        self.started.emit()
        self._question.ask(
            Evaluate(id=0, model=str(run), source=key, params=params),
            Handlers(on_done=take, on_failed=self._on_failed, on_progress=self._on_progress),
        )

    def cancel(self) -> None:
        """Ends the evaluation."""
        self._question.cancel()

    def close(self) -> None:
        """Waits for no answer any more, but for what still reads or writes files."""
        self._question.drop()
        self.background.close()

    def _on_failed(self, error: object) -> None:
        self.ended.emit()
        self.failed.emit(error)

    def _on_progress(self, progress: Progress) -> None:
        part = f", {share(progress.fraction, 0)}" if progress.fraction else ""
        self.progressed.emit(f"{progress.text}{part}")

    # showing -----------------------------------------------------------------------------

    def choose(self, run: Path | None, title: str) -> None:
        """Chooses the run (folder and name) that is evaluated and shown from now on."""
        self._run, self._title, self.known = run, title, None
        self.show_latest()
        self.look()

    @property
    def run(self) -> Path | None:
        """Folder of the chosen run; None for none."""
        return self._run

    @property
    def latest(self) -> KeptEvaluation | None:
        """The latest evaluation of the chosen run; None where none is known."""
        return self._latest.get(self._run) if self._run is not None else None

    def show_latest(self) -> None:
        """Shows the latest evaluation of the chosen run, where it has one."""
        if (latest := self.latest) is None:
            return
        weights = chosen_words(latest.result.weights)
        subject = f"Run “{self._title}”, {latest.images_words()}"
        parts = (subject, f"weights: {weights}" if weights else "", when(latest.created))
        self.evaluation, self.subject = latest.result, " · ".join(filter(None, parts))
        self.evaluated.emit(self.evaluation)

    def look(self) -> None:
        """Reads what the folder of the chosen run has."""
        if (run := self._run) is not None:
            self.background.run(
                lambda: known_scores(RunFolder(run)),
                lambda known: self._take_known(run, known),
                lambda _error: self._take_known(run, KnownScores(None, None, "")),
            )

    def _take_known(self, run: Path, known: KnownScores) -> None:
        if run != self._run:
            return
        is_first, self.known = self.known is None, known
        latest, kept = self.latest, known.kept
        if kept is not None and (latest is None or kept.created > latest.created):
            self._latest[run] = kept
            self.show_latest()
        elif kept is not None and latest is not None and kept.result == latest.result:
            self._latest[run] = kept
        if known.problem is not None and is_first:
            self.failed.emit(known.problem)
        self.looked.emit()

    def remark(self) -> str:
        """What qualifies the scores that are shown, in lines; "" where nothing does."""
        if (latest := self.latest) is None:
            return ""
        is_on_test = latest.result.is_validated_on_test
        now = self.known.checksum if self.known is not None else ""
        is_stale = bool(now and latest.checksum) and now != latest.checksum
        lines = STALE if is_stale else "", test_set_words(is_validated_on_test=is_on_test)
        return "\n".join(filter(None, lines))
