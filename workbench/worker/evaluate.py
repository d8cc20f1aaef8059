"""Evaluate: loss, accuracy, a score a class and the confusion matrix."""

from __future__ import annotations

import math

import numpy as np

from workbench.protocol.messages import AnyAnswer, Evaluate, Evaluation
from workbench.worker.model_runner import Runner
from workbench.worker.scores import class_scores, confusion_matrix, mean_loss
from workbench.worker.session import Job
from workbench.worker.sources import match_classes, other_part, run_test_part

_STEP = 512


def evaluate(job: Job, request: Evaluate) -> AnyAnswer:
    """Scores a model on its run's test part, or on another source.

    Raises:
        DatasetError: there are no such pictures, or their classes are not the model's.
    """
    runner = job.runner(request.model)
    card = runner.card
    if request.source:
        part, names = other_part(job, card, request.source, request.params)
    else:
        part, names = run_test_part(job, card)
    truth = match_classes(part.y, names, card.class_names)
    probabilities = _predict(job, runner, part.x)
    confusion = confusion_matrix(truth, probabilities.argmax(axis=1), len(card.class_names))
    loss = mean_loss(probabilities, truth)
    return Evaluation(
        id=job.id,
        loss=loss if math.isfinite(loss) else None,
        accuracy=float(np.trace(confusion)) / len(truth),
        classes=list(card.class_names),
        per_class=class_scores(confusion, card.class_names),
        confusion=confusion.tolist(),
    )


def _predict(
    job: Job, runner: Runner, x: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Probabilities (n, classes), heard of and cancelled between steps."""
    rows = []
    for start in range(0, len(x), _STEP):
        job.check_cancelled()
        job.progress("Classifying the test pictures", start / len(x))
        rows.append(runner.predict(x[start : start + _STEP]))
    return np.concatenate(rows)
