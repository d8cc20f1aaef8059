"""Reliability: whether answers with a confidence of 80% are right in 80% of the cases.

The expected calibration error (ECE; Naeini et al. 2015, Guo et al. 2017) with NUM_BINS bins of
equal width; the confidence is the probability of the most probable class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

NUM_BINS = 15

NUM_THRESHOLDS = 101
"""Thresholds 0, 0.01, ... 1 of a coverage curve."""

_DRAWS = 1_000


@dataclass(frozen=True)
class Reliability:
    """What is behind a reliability diagram: a value for each of NUM_BINS bins of equal width.

    Attributes:
        counts: Images whose confidence is in the bin.
        confidence: Their mean confidence, 0..1; 0 without images.
        accuracy: The share of them classified correctly; 0 without images.
    """

    counts: list[int]
    confidence: list[float]
    accuracy: list[float]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean gap between the two, weighted by images."""
        gaps = np.abs(np.array(self.confidence) - np.array(self.accuracy))
        return float((gaps * self.counts).sum() / max(1, sum(self.counts)))

    @property
    def error_by_chance(self) -> float:
        """Mean expected calibration error of answers with these confidences that are right exactly
        as often as they say: with few images it is far from 0.
        """
        counts, shares = np.array(self.counts), np.array(self.confidence).clip(0, 1)
        right = np.random.default_rng(1).binomial(counts, shares, (_DRAWS, len(counts)))
        gaps = np.abs(right - counts * shares).sum(axis=1)
        return float(gaps.mean() / max(1, counts.sum()))


def reliability(confidence: Floats, is_right: Flags) -> Reliability:
    """Sorts images into bins; confidence (n,) in 0..1, and whether each answer is right (n,)."""
    # Bins are closed at their upper end, as in the paper: 1.0 is in the last one.
    places = np.ceil(confidence.astype(np.float64) * NUM_BINS).astype(np.int64) - 1
    places = np.clip(places, 0, NUM_BINS - 1)
    counts = np.bincount(places, minlength=NUM_BINS)
    parts = np.maximum(counts, 1)
    sums = np.bincount(places, weights=confidence, minlength=NUM_BINS)
    right = np.bincount(places, weights=is_right, minlength=NUM_BINS)
    return Reliability(counts.tolist(), (sums / parts).tolist(), (right / parts).tolist())


def kept_counts(confidence: Floats, is_right: Flags) -> tuple[list[int], list[int]]:
    """For each of NUM_THRESHOLDS thresholds: how many images have at least that confidence, and how
    many of them are classified correctly.
    """
    thresholds = np.arange(NUM_THRESHOLDS) / (NUM_THRESHOLDS - 1)
    values = confidence.astype(np.float64)
    all_of, right = np.sort(values), np.sort(values[is_right])
    return (
        (len(all_of) - np.searchsorted(all_of, thresholds)).tolist(),
        (len(right) - np.searchsorted(right, thresholds)).tolist(),
    )
