"""Thresholds that are chosen on some images, and what they give on others, in messages."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.core.evaluation.ranking import curve_of
from workbench.core.evaluation.thresholds import (
    Point,
    Wish,
    chosen_point,
    point_of,
    refusal_at,
    refusal_of,
)
from workbench.protocol.trained.evaluate import ClassThreshold, ThresholdPoint, UnknownThreshold
from workbench.runs.store.class_scores import ClassScores


def class_thresholds(
    chosen_on: ClassScores, tried_on: ClassScores, wish: Wish, names: Sequence[str]
) -> list[ClassThreshold]:
    """A threshold for each class."""
    return [
        _threshold(chosen_on, tried_on, wish, name, number) for number, name in enumerate(names)
    ]


def _threshold(
    chosen_on: ClassScores, tried_on: ClassScores, wish: Wish, name: str, number: int
) -> ClassThreshold:
    own = chosen_on.actual == number
    chosen = chosen_point(curve_of(chosen_on.probabilities[:, number], own), wish)
    if chosen is None:
        return ClassThreshold(name=name)
    scores, is_own = tried_on.probabilities[:, number], tried_on.actual == number
    return ClassThreshold(
        name=name,
        threshold=chosen.threshold if math.isfinite(chosen.threshold) else None,
        validation=_message(chosen),
        found=_message(point_of(scores, is_own, chosen.threshold)),
    )


def _message(point: Point) -> ThresholdPoint:
    return ThresholdPoint(
        precision=point.precision,
        recall=point.recall,
        f1=point.f1,
        right=point.right,
        wrong=point.wrong,
        missed=point.missed,
    )


def unknown_threshold(
    chosen_on: ClassScores, tried_on: ClassScores, wish: Wish
) -> UnknownThreshold:
    """The threshold of all "unknown" answers, by what an error and such an answer cost."""
    costs = wish.false_alarm, wish.miss
    chosen = refusal_of(*chosen_on.answers(), costs)
    tried = refusal_at(*tried_on.answers(), costs, chosen.threshold)
    return UnknownThreshold(
        threshold=chosen.threshold if math.isfinite(chosen.threshold) else None,
        cost=tried.cost,
        cost_without=tried.cost_without,
        unknown=tried.unknown,
        wrong=tried.wrong,
        validation_cost=chosen.cost,
    )
