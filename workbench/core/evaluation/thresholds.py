"""Decision thresholds of single classes: chosen on some images, tried on others.

A threshold is chosen on validation images. What it gives there is too good, as it was chosen on
them: what counts is what it gives on images kept apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.core.evaluation.ranking import Curve

Goal = Literal["f1", "precision", "cost", "unknown"]

Scores = np.ndarray[Any, np.dtype[np.floating[Any]]]
Marks = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Wish:
    """What a threshold is chosen for.

    Attributes:
        goal: The best F1, the best recall of at least this precision, or the lowest cost, of errors
            of a class or of all "unknown" answers (`refusal_of`).
        precision: Wanted at least, 0..1.
        false_alarm, miss: What an image costs that is taken for the class and is of another one,
            and one of the class that is not; of "unknown" answers what an error and what such an
            answer costs. At least 0.
    """

    goal: Goal = "f1"
    precision: float = 0.9
    false_alarm: float = 1.0
    miss: float = 1.0


@dataclass(frozen=True)
class Point:
    """What a threshold gives on some images.

    Attributes:
        threshold: The least probability; infinite where no image is taken for the class.
        right, wrong: Images that are taken for the class, of it and of others.
        missed: Images of the class that are not.
    """

    threshold: float
    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float | None:
        """0..1; None where no image is taken for the class."""
        taken = self.right + self.wrong
        return self.right / taken if taken else None

    @property
    def recall(self) -> float | None:
        """0..1; None where there is no image of the class."""
        images = self.right + self.missed
        return self.right / images if images else None

    @property
    def f1(self) -> float:
        """0..1; 0 where there is nothing to divide by."""
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)

    def cost(self, wish: Wish) -> float:
        """Cost of all false alarms and misses, at the wish's cost of each."""
        return wish.false_alarm * self.wrong + wish.miss * self.missed


def chosen_point(curve: Curve, wish: Wish) -> Point | None:
    """The point of a curve that meets a wish best, of equally good ones the highest threshold; None
    where there are no images of the class, or no threshold has the precision.
    """
    if not curve.positives:
        return None
    right, wrong = curve.true_positives, curve.false_positives
    missed = curve.positives - right
    if wish.goal == "cost":
        return point_at(curve, int(np.argmin(wish.false_alarm * wrong + wish.miss * missed)))
    if wish.goal == "f1":
        return point_at(curve, int(np.argmax(2 * right / (right + wrong + curve.positives))))
    is_met = (right > 0) & (curve.precision >= wish.precision)
    if not is_met.any():
        return None
    return point_at(curve, int(np.argmax(np.where(is_met, right, -1))))


def point_at(curve: Curve, place: int) -> Point:
    """A point of a curve by its place."""
    right, wrong = int(curve.true_positives[place]), int(curve.false_positives[place])
    return Point(float(curve.thresholds[place]), right, wrong, curve.positives - right)


def point_of(scores: Scores, is_positive: Marks, threshold: float) -> Point:
    """What a threshold gives on images with these scores for a class, (n,)."""
    is_taken = scores.astype(np.float64) >= threshold
    right = int((is_taken & is_positive).sum())
    return Point(threshold, right, int(is_taken.sum()) - right, int(is_positive.sum()) - right)


@dataclass(frozen=True)
class Refusal:
    """What it costs to answer "unknown" below a probability, on some images.

    Attributes:
        threshold: The least probability of an answer; infinite where all are "unknown".
        unknown: Images below it.
        wrong: Images at or above it that are classified wrong.
        cost: A mean for an image.
        cost_without: The same without any threshold.
    """

    threshold: float
    unknown: int
    wrong: int
    cost: float
    cost_without: float


def refusal_of(probability: Scores, is_right: Marks, costs: tuple[float, float]) -> Refusal:
    """The threshold of the predicted class's probability (n,), n at least 1, with the lowest cost
    of an error and of an "unknown" answer, of equally good ones the lowest (Chow 1970, on these
    images in place of by the probabilities).
    """
    error, unknown = costs
    order = np.argsort(probability, kind="stable")
    ranked, is_wrong = probability[order].astype(np.float64), ~is_right[order]
    left = np.concatenate([is_wrong[::-1].cumsum()[::-1], [0]])
    # A threshold lies at a distinct probability, or above all.
    places = np.flatnonzero(np.append(np.insert(ranked[1:] != ranked[:-1], 0, True), True))
    costs_of = error * left[places] + unknown * places
    place = int(places[int(np.argmin(costs_of))])
    threshold = 0.0 if place == 0 else float(ranked[place]) if place < len(ranked) else math.inf
    return refusal_at(probability, is_right, costs, threshold)


def refusal_at(
    probability: Scores, is_right: Marks, costs: tuple[float, float], threshold: float
) -> Refusal:
    """What a threshold gives on images with these probabilities of their predicted classes."""
    is_kept, images = probability.astype(np.float64) >= threshold, max(1, len(probability))
    wrong, all_wrong = int((is_kept & ~is_right).sum()), int((~is_right).sum())
    unknown = int((~is_kept).sum())
    cost = (costs[0] * wrong + costs[1] * unknown) / images
    return Refusal(threshold, unknown, wrong, cost, costs[0] * all_wrong / images)
