"""Scores of a saved model: the one way, for the test of a trainer and for Evaluate."""

from __future__ import annotations

from collections.abc import Callable

from workbench.inference.answers import ImageResults, joined_results, results_of, room_for
from workbench.inference.runner import Labels, Runner
from workbench.pictures.rows import Rows

_STEP = 512


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
    steps, rows = [], room_for(len(x), len(runner.card.class_names))
    for start in range(0, len(x), _STEP):
        on_progress(start / len(x))
        labels = truth[start : start + _STEP]
        found = runner.score(x[start : start + _STEP], labels)
        steps.append(results_of(found, labels))
        rows[start : start + len(labels)] = found.probabilities
    return joined_results(steps, rows)
