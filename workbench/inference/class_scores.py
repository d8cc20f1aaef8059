"""Confusion matrix, and the scores of each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.protocol.trained.evaluate import ClassScore

Counts = np.ndarray[Any, np.dtype[np.int64]]


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
