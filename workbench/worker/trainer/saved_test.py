"""The test of what a training has saved: by the weights on the disk, as Evaluate tests them."""

from __future__ import annotations

from functools import partial

import numpy as np

from workbench.errors import WorkbenchError
from workbench.protocol.events import TestResult
from workbench.worker.checkpoints.prepared import PreparedTraining, TrainingJob
from workbench.worker.input.sharding import WHOLE
from workbench.worker.process.event_logger import finite
from workbench.worker.saved_models.model_runner import load_runner
from workbench.worker.saved_models.scoring import score_all


def is_needed(ready: PreparedTraining) -> bool:
    """Whether the training computes with fewer digits than what answers later, in float32. Of
    several machines only one has the weights.
    """
    compiled = ready.compiled
    return compiled.plan.precision != "float32" and compiled.loop.share == WHOLE


def saved_test(job: TrainingJob, ready: PreparedTraining) -> TestResult | None:
    """Scores of the saved weights on the test images; None without any, or, with a warning in the
    log, where they cannot be loaded.
    """
    part = ready.images.test
    if part is None:
        return None
    phase = partial(job.events.phase, "testing", "Evaluating on the test set")
    try:
        results = score_all(load_runner(job.run.path), part.x, part.y, phase)
    except WorkbenchError as error:
        job.events.log_line(str(error), level="warning")
        return None
    accuracy = float(np.mean(results.predicted == part.y))
    return TestResult(loss=finite(results.loss), accuracy=accuracy, count=len(part))
