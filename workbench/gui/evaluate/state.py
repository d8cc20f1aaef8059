"""What the panels of the evaluate view share: the evaluation that is shown."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question
from workbench.core.format import share
from workbench.core.projects.data_edits import PartName
from workbench.core.projects.project import Choice
from workbench.gui.common.context import WindowContext
from workbench.gui.common.run_text import when
from workbench.protocol.messages import Progress
from workbench.protocol.trained.evaluate import Evaluate, Evaluation, ImageSet
from workbench.runs.folder import RunFolder
from workbench.runs.log.texts import chosen_words, remark_words, set_words
from workbench.runs.store.evaluation import KeptEvaluation, KnownScores, known_scores

PARTS: dict[ImageSet, str] = {
    "test": "Test images",
    "validation": "Validation images",
    "train": "Training images",
    "other": "Other images",
}
"""Which images can be evaluated."""

STALE = (
    "The weights have changed since this evaluation. Evaluate again to score the current weights."
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
        images_picked(PickedImages): These images are to be shown, whatever the evaluation is of.
        slice_wanted(Chosen): These images are to be shown.
        images_read(ImagesOfRun): What was predicted for each image; None where that is not known.
        what_if_wanted(): A picture is to be altered, for a robustness test.
        train_again(Path): The project is to be trained from the weights of the run in this folder.
        said(str): What was saved, or why not.
        closing(): The window closes.
        remarked(): What qualifies the scores has changed.
        looked(): What the folder of the chosen run has of scores is known now.

    Attributes:
        context: The parts that all views work with.
        evaluation: The one that is shown; None before the first.
        subject: What it is of: "Test set, 361 images · run “cifar” · weights: last epoch (40)".
        part: Which images are evaluated next and shown: a part of the run's split, or others.
        known: What the folder of the chosen run has; None until that was read.
        edited: How many of the images have been edited since, in words; "" for none.
    """

    started = Signal()
    progressed = Signal(str)
    ended = Signal()
    evaluated = Signal(object)
    failed = Signal(object)
    closing = Signal()
    looked = Signal()
    remarked = Signal()
    cell_pointed = Signal(int, int)
    images_wanted = Signal(int, int)
    images_picked = Signal(object)
    slice_wanted = Signal(object)
    what_if_wanted = Signal()
    images_read = Signal(object)
    train_again = Signal(object)
    said = Signal(str)

    def __init__(self, context: WindowContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.background = Background(self, max_threads=1)
        self.evaluation: Evaluation | None = None
        self.subject = ""
        self.part: ImageSet = "test"
        self.known: KnownScores | None = None
        self.edited = ""
        self._is_part_chosen = False  # by the user, for the run that is shown
        self._run: Path | None = None
        self._title = ""
        self._latest: dict[tuple[Path, ImageSet], KeptEvaluation] = {}
        self._question = Question(context.service)

    @property
    def is_busy(self) -> bool:
        """Whether an evaluation is under way."""
        return self._question.is_open

    # evaluating --------------------------------------------------------------------------

    def evaluate(self, source: Choice | None = None) -> None:
        """Evaluates the chosen run, unless another evaluation goes on.

        Args:
            source: The images; None for those of the chosen part of the run's split, or the other
                images that are shown.
        """
        run, latest = self._run, self.latest
        if self.is_busy or run is None:
            return
        if source is None and self.part == "other" and latest is not None:
            source = Choice(latest.source, latest.params)
        key, params = (source.key, dict(source.params)) if source else ("", {})
        part: PartName = "test" if self.part == "other" else self.part

        def take(answer: Evaluation) -> None:
            # Its checksum is known once the file is read that the worker keeps.
            self._latest[run, answer.part] = KeptEvaluation(
                result=answer, source=key, params=params, created=time.time()
            )
            self.ended.emit()
            if run == self._run:
                self.part = answer.part
            self.show_latest()
            self.look()

        self.started.emit()
        self._question.ask(
            Evaluate(id=0, model=str(run), part=part, source=key, params=params),
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
        is_same, self._run, self._title, self.known = run == self._run, run, title, None
        self._is_part_chosen &= is_same
        self.show_latest()
        self.look()

    def choose_part(self, part: ImageSet) -> None:
        """Chooses which images are evaluated and shown from now on."""
        self.part, self._is_part_chosen = part, True
        self.show_latest()
        self.looked.emit()

    def parts(self) -> list[ImageSet]:
        """What there is to choose from: other images where they were evaluated."""
        has_other = self._run is not None and (self._run, "other") in self._latest
        return [part for part in PARTS if part != "other" or has_other]

    @property
    def run(self) -> Path | None:
        """Folder of the chosen run; None for none."""
        return self._run

    @property
    def latest(self) -> KeptEvaluation | None:
        """The latest evaluation of the chosen run on the chosen images; None for none."""
        return self._latest.get((self._run, self.part)) if self._run is not None else None

    def show_latest(self) -> None:
        """Shows the latest evaluation of the chosen run, where it has one."""
        if (latest := self.latest) is None:
            return
        weights = chosen_words(latest.result.weights)
        parts = (
            self.images_words(),
            f"run “{self._title}”",
            f"weights: {weights}" if weights else "",
            when(latest.created),
        )
        self.evaluation, self.subject = latest.result, " · ".join(filter(None, parts))
        self.evaluated.emit(self.evaluation)

    def images_words(self) -> str:
        """Which images the figures that are shown are of: "Test set, 361 images"."""
        latest = self.latest
        return set_words(latest.result, latest.source_words()) if latest is not None else ""

    def look(self) -> None:
        """Reads what the folder of the chosen run has."""
        if (run := self._run) is not None:
            self.background.run(
                lambda: known_scores(RunFolder(run)),
                lambda known: self._take_known(run, known),
                lambda _error: self._take_known(run, KnownScores({}, None, "")),
            )

    def _take_known(self, run: Path, known: KnownScores) -> None:
        if run != self._run:
            return
        is_first, self.known = self.known is None, known
        shown = self.latest
        for part, kept in known.evaluations.items():
            latest = self._latest.get((run, part))
            if latest is None or kept.created > latest.created or kept.result == latest.result:
                self._latest[run, part] = kept
        if is_first and self.latest is None and known.kept is not None and not self._is_part_chosen:
            self.part = known.kept.part
        latest = self.latest
        if latest is not None and (shown is None or latest.result != shown.result):
            self.show_latest()
        if known.problem is not None and is_first:
            self.failed.emit(known.problem)
        self.looked.emit()

    def remark(self) -> str:
        """What qualifies the scores that are shown, in lines; "" where nothing does."""
        if (latest := self.latest) is None:
            return ""
        now = self.known.checksum if self.known is not None else ""
        is_stale = bool(now and latest.checksum) and now != latest.checksum
        lines = STALE if is_stale else "", remark_words(latest.result), self.edited
        return "\n".join(filter(None, lines))

    def set_edited(self, words: str) -> None:
        """Says how many of the images have been edited since."""
        if words != self.edited:
            self.edited = words
            self.remarked.emit()
