"""Evaluate: loss, accuracy, a score a class and the confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.pictures.rows import Rows
from workbench.protocol.messages import AnyAnswer, ClassScore, Evaluate, Evaluation
from workbench.worker.input.sources import match_classes, other_part, run_test_part
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.model_runner import Labels, Runner

_STEP = 512

Counts = np.ndarray[Any, np.dtype[np.int64]]


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
    """Predicted labels (n,) and the mean loss; can be canceled between steps."""
    predicted, total = [], 0.0
    for start in range(0, len(x), _STEP):
        job.check_cancelled()
        job.progress("Evaluating the test images", start / len(x))
        rows, losses = runner.score(x[start : start + _STEP], truth[start : start + _STEP])
        predicted.append(rows.argmax(axis=1))
        total += float(losses.sum(dtype=np.float64))
    return np.concatenate(predicted), total / len(x)


def confusion_matrix(truth: Counts, predicted: Counts, num_classes: int) -> Counts:
    """Counts (n, n): rows are the true class, columns the predicted one."""
    cells = np.bincount(truth * num_classes + predicted, minlength=num_classes * num_classes)
    return cells.reshape(num_classes, num_classes)


def class_scores(confusion: Counts, class_names: Sequence[str]) -> list[ClassScore]:
    """Precision, recall and F1 of each class; 0 where there is nothing to divide by."""
    right = np.diagonal(confusion).astype(np.float64)
    true_counts, predicted_counts = confusion.sum(axis=1), confusion.sum(axis=0)
    precision = right / np.maximum(predicted_counts, 1)
    recall = right / np.maximum(true_counts, 1)
    both = precision + recall
    f1 = 2 * precision * recall / np.where(both > 0, both, 1)
    return [
        ClassScore(
            name=name,
            precision=float(precision[label]),
            recall=float(recall[label]),
            f1=float(f1[label]),
            count=int(true_counts[label]),
        )
        for label, name in enumerate(class_names)
    ]
