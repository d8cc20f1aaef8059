"""What is known of a run for its report: read from its folder, and what a worker has scored.

Nothing that is missing is an error: `Facts` has None for it, and `problems` the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import graph_from_plain, project_text
from workbench.errors import RunFolderError, WorkbenchError
from workbench.layers import all_layers
from workbench.pictures.heat import Heat
from workbench.protocol.events import TestResult
from workbench.protocol.trained.evaluate import Evaluation
from workbench.protocol.trained.explain import Method
from workbench.protocol.weights import KeptWeights
from workbench.report.blocks import Section
from workbench.runs.folder import RunFolder, RunRequest
from workbench.runs.library.summary import RunSummary, summarise
from workbench.runs.log.event_log import EventReader
from workbench.runs.log.history import MetricHistory
from workbench.runs.model_card import ModelCard, weights_of
from workbench.runs.state.outcome import RunOutcome, outcome_of
from workbench.runs.store.checkpoint import Provenance, read_origin
from workbench.runs.store.evaluation import KeptEvaluation, known_scores, read_image_scores
from workbench.runs.store.image_scores import ScoredImages
from workbench.runs.store.notes import RunNotes, read_notes

PixelRows = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True)
class Example:
    """A test image and what the network answers.

    Attributes:
        pixels: uint8 (height, width, channels), fitted to the network.
        file: Its path; "" where it is in no file of its own.
        actual, predicted: Numbers of classes.
        probability: Probability of the predicted class, 0..1.
        heat: Where the network has looked, float (height, width) 0..1; None where not computed.
    """

    pixels: PixelRows
    file: str
    actual: int
    predicted: int
    probability: float
    heat: Heat | None = None

    @property
    def is_right(self) -> bool:
        """Whether the prediction is the true class."""
        return self.actual == self.predicted


@dataclass(frozen=True)
class Scored:
    """What a worker has found out about the test images.

    Attributes:
        result: Scores; None where there are none.
        examples: Some images, the wrong ones first, each kind with the most confident first.
        problem: Why something is missing; "" where nothing is.
        method: How the heat maps of the examples were made; "" where there are none.
        images: What was kept of each image; None where nothing was.
    """

    result: Evaluation | None = None
    examples: tuple[Example, ...] = ()
    problem: str = ""
    method: Method | Literal[""] = ""
    images: ScoredImages | None = None


@dataclass(frozen=True)
class Facts:
    """All that the sections are made of.

    Attributes:
        run: The folder.
        request: What was requested.
        summary: As the list of runs shows it.
        history: What was logged.
        outcome: How it ended, or that it has not.
        notes: What people wrote about it.
        card: Model card of its weights; None where it has none.
        origin: What it was computed on; None where that was not kept.
        project: What was trained; None where the request's project is damaged.
        scored: What the model answered for the test images.
        problems: Why something is not there, in sentences.
    """

    run: RunFolder
    request: RunRequest
    summary: RunSummary
    history: MetricHistory
    outcome: RunOutcome
    notes: RunNotes
    card: ModelCard | None
    origin: Provenance | None
    project: Project | None
    scored: Scored
    problems: tuple[str, ...]

    @cached_property
    def analysis(self) -> Analysis | None:
        """Shapes and costs of the network; None where it cannot be read."""
        if self.project is None:
            return None
        return analyse(self.project.graph, all_layers(), recipe=self.project.recipe)

    @property
    def test(self) -> TestResult | None:
        """The test that counts: of all test images where they were scored, else the one at the end
        of the training.
        """
        result = self.scored.result
        if result is not None and result.accuracy is not None:
            shown = result.negative_log_likelihood
            loss = result.loss if shown is None else shown
            return TestResult(loss=loss, accuracy=result.accuracy, count=result.count)
        finished = self.history.finished
        return finished.test if finished is not None else None

    @property
    def loss_words(self) -> str:
        """The name of the loss of `test`: whether it is of the calibrated probabilities."""
        result = self.scored.result
        is_scored = result is not None and result.negative_log_likelihood is not None
        known = self.card.calibration if self.card is not None else None
        is_calibrated = known is not None and known.temperature is not None
        return "loss (uncalibrated)" if is_calibrated and not is_scored else "loss"

    @property
    def weights(self) -> KeptWeights | None:
        """Which weights were kept."""
        if self.card is not None:
            return weights_of(self.card)
        finished = self.history.finished
        return finished.kept if finished is not None else None

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, as far as they are known."""
        if self.card is not None:
            return self.card.class_names
        return self.history.data.class_names if self.history.data is not None else []

    @cached_property
    def project_text(self) -> str:
        """The project as a file; "" where it is damaged."""
        return project_text(self.project) if self.project is not None else ""


@dataclass(frozen=True, kw_only=True)
class SectionSpec:
    """A section of a report, a file of `sections/`.

    Attributes:
        key: Name of its file.
        order: Lower comes first.
        make: Makes it, whatever is missing.
    """

    key: str
    order: int
    make: Callable[[Facts], Section]


def read_facts(run: RunFolder) -> Facts:
    """Reads the folder of a run; what was scored is added by `with_scores`.

    Raises:
        RunFolderError: it is no run.
    """
    history, damage = _read_history(run)
    problems = [damage] if damage else []
    request, summary = run.request(), summarise(run)
    if summary is None:
        raise RunFolderError("This is not a readable run folder.", where=str(run.path))
    card, project = None, None
    try:
        project = run.project()
        card = run.model_card() if run.has_model() else None
        if card is not None:
            graph = graph_from_plain(card.graph, "the model card")
            project = replace(project, graph=graph)
    except WorkbenchError as error:
        problems.append(str(error))
    return Facts(
        run=run,
        request=request,
        summary=summary,
        history=history,
        outcome=outcome_of(run, history),
        notes=read_notes(run),
        card=card,
        origin=read_origin(run),
        project=project,
        scored=_kept_scores(run, card),
        problems=tuple(problems),
    )


def with_scores(facts: Facts, scored: Scored) -> Facts:
    """Facts with what a worker has scored; scores that were kept stay where it has none."""
    result = scored.result or facts.scored.result
    return replace(facts, scored=replace(scored, result=result))


def _kept_scores(run: RunFolder, card: ModelCard | None) -> Scored:
    """The kept evaluation, where it is of the test images and of these weights."""
    if card is None:
        return Scored()
    try:
        known = known_scores(run)
        kept = known.evaluations.get("test")
        if kept is None or (kept.checksum and kept.checksum != known.checksum):
            return Scored(problem=str(known.problem) if known.problem is not None else "")
        return Scored(result=kept.result, images=_kept_images(run, kept))
    except WorkbenchError as error:
        return Scored(problem=str(error))


def _kept_images(run: RunFolder, kept: KeptEvaluation) -> ScoredImages | None:
    """None, too, where what was kept is damaged: the images are scored again then."""
    try:
        return read_image_scores(run, kept)
    except RunFolderError:
        return None


def _read_history(run: RunFolder) -> tuple[MetricHistory, str]:
    """What was logged, and words on what of it is damaged."""
    history, reader = MetricHistory(), EventReader(run.events_path)
    while events := reader.read_new():
        history.add_all(events)
    return history, reader.damage_words
