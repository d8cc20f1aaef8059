"""The scores of each class, by a confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.confusion import Confusion
from workbench.core.evaluation.ranking import Areas
from workbench.protocol.trained.evaluate import ClassScore


def class_scores(
    confusion: Confusion, class_names: Sequence[str], areas: Areas | None = None
) -> list[ClassScore]:
    """Precision, recall and F1 of each class, 0 where there is nothing to divide by; and its areas,
    where they are known.
    """
    right = confusion.right.astype(np.float64)
    true_counts, predicted_counts = confusion.actual_totals, confusion.predicted_totals
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
            roc_auc=areas.classes[label].roc_auc if areas else None,
            average_precision=areas.classes[label].average_precision if areas else None,
        )
        for label, name in enumerate(class_names)
    ]
