"""Scores of a saved model: the one way, for the test of a trainer and for Evaluate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.pictures.rows import Rows
from workbench.worker.saved_models.model_runner import Labels, Runner

_STEP = 512


def score_all(
    runner: Runner, x: Rows, truth: Labels, on_progress: Callable[[float], None]
) -> tuple[Labels, float]:
    """Predicted labels (n,) and the mean loss of images uint8 (n, height, width, channels).

    Args:
        runner: The model, which computes in float32.
        x: Images fitted to the model.
        truth: Their labels int64 (n,).
        on_progress: Called with the fraction done, 0..1, before each step; may raise to stop.
    """
    predicted, total = [], 0.0
    for start in range(0, len(x), _STEP):
        on_progress(start / len(x))
        rows, losses = runner.score(x[start : start + _STEP], truth[start : start + _STEP])
        predicted.append(rows.argmax(axis=1))
        total += float(losses.sum(dtype=np.float64))
    return np.concatenate(predicted), total / len(x)
