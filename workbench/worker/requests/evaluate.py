"""Evaluate: loss, accuracy, a score a class and the confusion matrix."""

from __future__ import annotations

import math

import numpy as np

from workbench.pictures.rows import Rows
from workbench.protocol.messages import AnyAnswer, Evaluate, Evaluation
from workbench.worker.input.sources import match_classes, other_part, run_test_part
from workbench.worker.requests.scores import class_scores, confusion_matrix
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.model_runner import Labels, Runner

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
    predicted, loss = _score(job, runner, part.x, truth)
    confusion = confusion_matrix(truth, predicted, len(card.class_names))
    return Evaluation(
        id=job.id,
        loss=loss if math.isfinite(loss) else None,
        accuracy=float(np.trace(confusion)) / len(truth),
        classes=list(card.class_names),
        per_class=class_scores(confusion, card.class_names),
        confusion=confusion.tolist(),
    )


def _score(job: Job, runner: Runner, x: Rows, truth: Labels) -> tuple[Labels, float]:
    """Predicted labels (n,) and the mean loss; heard of and canceled between steps."""
    predicted, total = [], 0.0
    for start in range(0, len(x), _STEP):
        job.check_cancelled()
        job.progress("Evaluating the test images", start / len(x))
        rows, losses = runner.score(x[start : start + _STEP], truth[start : start + _STEP])
        predicted.append(rows.argmax(axis=1))
        total += float(losses.sum(dtype=np.float64))
    return np.concatenate(predicted), total / len(x)
