"""Scores of a saved model: the one way, for the test of a trainer and for Evaluate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.pictures.rows import Rows
from workbench.worker.saved_models.model_runner import Labels, Losses, Probabilities, Runner

_STEP = 512


@dataclass(frozen=True)
class ImageResults:
    """What a model answers for some images, (n,) each.

    Attributes:
        predicted: The most probable class, int64.
        probability: Of that class, float32; calibrated where the model is.
        raw: The same without the temperature.
        distances: From the training images, float32; NaN where that is not known.
        losses: float32; may be infinite. Of the uncalibrated outputs, as in training.
    """

    predicted: Labels
    probability: Probabilities
    raw: Probabilities
    distances: Probabilities
    losses: Losses

    @property
    def loss(self) -> float:
        """The mean of the losses."""
        return float(self.losses.mean(dtype=np.float64))


def score_all(
    runner: Runner, x: Rows, truth: Labels, on_progress: Callable[[float], None]
) -> ImageResults:
    """Scores images uint8 (n, height, width, channels), at least one.

    Args:
        runner: The model, which computes in float32.
        x: Images fitted to the model.
        truth: Their labels int64 (n,).
        on_progress: Called with the fraction done, 0..1, before each step; may raise to stop.
    """
    steps = []
    for start in range(0, len(x), _STEP):
        on_progress(start / len(x))
        found = runner.score(x[start : start + _STEP], truth[start : start + _STEP])
        rows, raw = found.probabilities, found.raw.max(axis=1)
        far = np.full(len(rows), np.nan, np.float32) if found.distances is None else found.distances
        steps.append((rows.argmax(axis=1), rows.max(axis=1), raw, far, found.losses))
    return ImageResults(*(np.concatenate(column) for column in zip(*steps, strict=True)))
