"""The test of what a training has saved: by the weights on the disk, as Evaluate tests them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.inference.answers import ImageResults
from workbench.inference.runner import Runner
from workbench.inference.scoring import score_all
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.events import TestResult
from workbench.runs.store.robustness import keep_robustness
from workbench.worker.checkpoints.prepared import PreparedTraining, TrainingJob
from workbench.worker.input.sharding import WHOLE, is_on_processors
from workbench.worker.process.event_logger import finite
from workbench.worker.process.load_context import BaseLoadContext
from workbench.worker.saved_models.evaluation import (
    class_scores_of,
    evaluation_of,
    keep,
    scored_images,
)
from workbench.worker.saved_models.keras_runner import load_keras_runner
from workbench.worker.saved_models.loading import load_runner
from workbench.worker.saved_models.robustness import refuse_unknown, robustness_of
from workbench.worker.trainer.after_training import SkippedError

_MAX_WORDS = 400
"""Characters that are logged of a library's error; TensorFlow's can be pages long."""


def is_saved_test_needed(ready: PreparedTraining) -> bool:
    """Whether the training computes with fewer digits than what answers later, in float32. Of
    several machines only one has the weights.
    """
    compiled = ready.compiled
    return compiled.plan.precision != "float32" and compiled.loop.share == WHOLE


def saved_test(
    job: TrainingJob, ready: PreparedTraining, report: Callable[[float], None]
) -> ImageResults | None:
    """What the saved weights answer for the test images; None without any, or, with a warning in
    the log, where they cannot be loaded.
    """
    part = ready.images.test
    if part is None:
        return None
    try:
        # Another device is faster than ONNX Runtime on the processor.
        is_here = is_on_processors(ready.target.strategy)
        load: Callable[[Path], Runner] = load_runner if is_here else load_keras_runner
        return score_all(load(job.run.path), part.x, part.y, report)
    except WorkbenchError as error:
        job.events.log_line(str(error), level="warning")
        return None


def test_result(part: PreparedPart, results: ImageResults, loss: float) -> TestResult:
    """The scores of a test in all."""
    accuracy = float(np.mean(results.predicted == part.y))
    return TestResult(loss=finite(loss), accuracy=accuracy, count=len(part))


def keep_test(
    job: TrainingJob,
    part: PreparedPart,
    results: ImageResults,
    report: Callable[[float], None],
) -> None:
    """Keeps the test with what was answered for each image as the run's evaluation; with a warning
    in the log where that is not possible. `report` takes the fraction done.

    Images that were sent from another computer are not kept: it has them under other names.
    """
    if job.run.request().parcel:
        return
    try:
        card = job.run.model_card()
        images = scored_images(part, part.y, results, TestLoadContext(report))
        rows = class_scores_of(part.y, results)
        keep(job.run, card, evaluation_of(card, part.y, results), images, rows)
    except WorkbenchError as error:
        job.events.log_line(str(error), level="warning")


def is_robustness_wanted(job: TrainingJob) -> bool:
    """Whether the project has robustness tests, and its images are here."""
    return bool(job.project.robustness) and not job.run.request().parcel


def keep_measured(job: TrainingJob, part: PreparedPart, report: Callable[[float], None]) -> None:
    """Measures the saved weights on the project's robustness tests and keeps that with the run;
    with a warning in the log where it is not possible. `report` takes the fraction done.
    """
    tests = job.project.robustness
    try:
        refuse_unknown(tests)
        runner = load_runner(job.run.path)
        result = robustness_of(runner, part.x, part.y, tests, on_progress=report)
        keep_robustness(job.run, result, runner.card.checksum)
    except SkippedError:
        raise
    except WorkbenchError as error:
        job.events.log_line(str(error), level="warning")
    except Exception as error:  # noqa: BLE001 - the weights are kept: a full GPU fails no training
        words = f"The robustness was not measured. {type(error).__name__}: {error}"
        job.events.log_line(words[:_MAX_WORDS], level="warning")


class TestLoadContext(BaseLoadContext):
    """A LoadContext that a stop of the training does not end."""

    __test__ = False

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report

    def check_cancelled(self) -> None:
        """No-op: the test is not canceled."""

    def keras(self) -> Any:
        """Is never called: no data set is loaded here."""
        raise NotImplementedError

    def _report_progress(self, _text: str, fraction: float | None) -> None:
        self._report(fraction or 0.0)
