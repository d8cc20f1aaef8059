"""FindLearningRate: one short training whose learning rate climbs until the loss does."""

from __future__ import annotations

import math
import time

import numpy as np

from workbench.core.training.rate_suggestion import has_diverged, suggest_rate
from workbench.protocol.messages import (
    AnyAnswer,
    FindLearningRate,
    LearningRateFound,
    LearningRateTried,
)
from workbench.worker.process.event_logger import finite
from workbench.worker.requests.benchmark_setup import set_up
from workbench.worker.requests.session import Job

_SEND_INTERVAL_S = 0.2


def find_learning_rate(job: Job, request: FindLearningRate) -> AnyAnswer:
    """Trains some steps, each with a rate a little higher than the one before.

    Raises:
        WorkbenchError: the project cannot be trained.
    """
    trial = set_up(job, request.project, validation="none")
    job.progress("Building the model")
    compiled = trial.compiled(learning_rate=request.lowest)
    rates = np.geomspace(request.lowest, request.highest, request.steps)
    losses: list[float] = []
    sent, sent_at = 0, time.monotonic()
    for step, rate in enumerate(rates):
        job.check_cancelled()
        job.progress("Trying learning rates", step / len(rates))
        losses.append(float(compiled.loop.train(compiled.iterator, 1, rates=[rate]).losses[0]))
        is_over = has_diverged(np.array(losses)) or step == len(rates) - 1
        if is_over or time.monotonic() - sent_at > _SEND_INTERVAL_S:
            tried = slice(sent, len(losses))
            job.send(
                LearningRateTried(
                    id=job.id,
                    rates=rates[tried].tolist(),
                    losses=[finite(loss) for loss in losses[tried]],
                )
            )
            sent, sent_at = len(losses), time.monotonic()
        if is_over:
            break
    suggested = suggest_rate(rates[: len(losses)], np.array(losses))
    return LearningRateFound(id=job.id, suggested=suggested, words=_words(suggested, losses))


def _words(suggested: float | None, losses: list[float]) -> str:
    if suggested is None:
        return "No learning rate lowered the loss. Check input scaling and labels."
    known = [loss for loss in losses if math.isfinite(loss)]
    return (
        f"At {suggested:g} the loss falls fast, well before it rises "
        f"(from {known[0]:.2f} to {min(known):.2f} in {len(losses)} steps)."
    )
