"""What an evaluation says of a model's probabilities: reliability, and what thresholds keep."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from workbench.core.calibration.reliability import kept_counts, reliability
from workbench.inference.answers import ImageResults, Numbers, Values
from workbench.protocol.trained.calibration import Bins, Calibration, CalibrationScores, KeptImages
from workbench.worker.process.event_logger import finite

Flags = np.ndarray[Any, np.dtype[np.bool_]]


def calibration_scores(
    found: Calibration, results: ImageResults, truth: Numbers
) -> CalibrationScores | None:
    """Scores of the answers to at least one image; None where one is not finite.

    Args:
        found: The model's calibration.
        results: Its answers.
        truth: The labels (n,).
    """
    if not np.isfinite(results.probability).all() or not np.isfinite(results.raw).all():
        return None
    is_right = results.predicted == truth
    # Without softmax at its end, a network may give more than 1, rounded.
    before, after = (_bins(values, is_right) for values in (results.raw, results.probability))
    mark, near = found.distance, None
    if mark is not None and np.isfinite(results.distances).all():
        is_near = results.distances <= mark.limit
        near = _kept(results.probability[is_near], is_right[is_near])
    return CalibrationScores(
        temperature=found.temperature,
        expected_calibration_error=after.error,
        reason=found.reason,
        before=before,
        after=after,
        kept=_kept(results.probability, is_right),
        kept_near=near,
        no_distance=found.no_distance,
        negative_log_likelihood=finite(float(results.losses.mean(dtype=np.float64))),
        loss_before=finite(results.loss),
    )


def _bins(confidence: Values, is_right: Flags) -> Bins:
    return Bins(**asdict(reliability(np.clip(confidence, 0, 1), is_right)))


def _kept(confidence: Values, is_right: Flags) -> KeptImages:
    kept, right = kept_counts(confidence, is_right)
    return KeptImages(all=kept, right=right)
