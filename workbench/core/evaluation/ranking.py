"""How well scores rank the images of each class before the others: ROC and precision-recall curves
and the areas under them, one class against the rest.

Of a class the positives are its images, the negatives all others; equal scores change sides
together. Definitions are those of scikit-learn: the area under the ROC curve by trapezoids (Fawcett
2006), the average precision by steps, sum of (R_n - R_n-1) P_n. The macro average is the mean over
the classes that have an area, the micro average that of all (image, class) pairs together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

# top k ---------------------------------------------------------------------------------------
# Top-k accuracy: the share of images whose true class is among the k most probable ones.

SHOWN = (3, 5)
"""The usual values of k; each is of use where there are more classes."""

Scores = np.ndarray[Any, np.dtype[np.floating[Any]]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]
Ranks = np.ndarray[Any, np.dtype[np.integer[Any]]]


def ranks_of(rows: Scores, labels: Numbers) -> Numbers:
    """How many classes are before the true one (n,), the most probable first and equally probable
    ones in their own order, so that 0 is the class that is predicted.

    Args:
        rows: Probabilities (n, classes).
        labels: Numbers of the true classes, (n,).
    """
    own = np.take_along_axis(rows, labels[:, None], axis=1)
    ranks: Numbers = (rows > own).sum(axis=1)
    for place in np.flatnonzero((rows == own).sum(axis=1) > 1):
        ranks[place] += (rows[place, : labels[place]] == own[place]).sum()
    return ranks


def top_k_accuracies(
    ranks: Ranks, num_classes: int, wanted: Sequence[int] = SHOWN
) -> dict[int, float]:
    """Accuracies 0..1 by k, for each wanted k below the number of classes; none without images.

    Args:
        ranks: How many classes are before the true one, (n,).
        num_classes: That the model distinguishes.
        wanted: Values of k, from 1.
    """
    if not len(ranks):
        return {}
    chosen = sorted({k for k in wanted if k < num_classes})
    return {k: float(np.mean(ranks < k)) for k in chosen}


# ranking -------------------------------------------------------------------------------------

Labels = np.ndarray[Any, np.dtype[np.int64]]
Marks = np.ndarray[Any, np.dtype[np.bool_]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

_COLUMNS = 64
"""Classes whose scores are read at once: a row of the file has them side by side."""

_CHUNK = 4_000_000
"""Scores that are counted at once for the micro average: 100 MB of memory."""


@dataclass(frozen=True)
class Area:
    """The areas of one ranking, 0..1: None without positives, that of the ROC curve also without
    negatives.
    """

    roc_auc: float | None = None
    average_precision: float | None = None


@dataclass(frozen=True)
class Areas:
    """The areas of each class, and their two averages."""

    classes: list[Area]
    macro: Area
    micro: Area


@dataclass(frozen=True)
class Curve:
    """What each threshold gives, from one above all scores down to the lowest score, (m,) each.

    Attributes:
        thresholds: An image is taken for the class from this score on; the first is infinite.
        true_positives, false_positives: Images that are taken for it, of the class and of others.
        positives, negatives: How many images there are of the class, and of the others.
    """

    thresholds: Floats
    true_positives: Numbers
    false_positives: Numbers
    positives: int
    negatives: int

    @property
    def recall(self) -> Floats:
        """True positive rate; 0 without positives."""
        return np.asarray(self.true_positives / max(1, self.positives), np.float64)

    @property
    def false_positive_rate(self) -> Floats:
        """0 without negatives."""
        return np.asarray(self.false_positives / max(1, self.negatives), np.float64)

    @property
    def precision(self) -> Floats:
        """1 where no image is taken for the class."""
        taken = self.true_positives + self.false_positives
        return np.where(taken > 0, self.true_positives / np.maximum(taken, 1), 1.0)


def curve_of(scores: Scores, is_positive: Marks) -> Curve:
    """The curve of scores (n,) of some images; at every distinct score a point."""
    order = np.argsort(-scores, kind="stable")
    ranked, found = scores[order].astype(np.float64), np.cumsum(is_positive[order], dtype=np.int64)
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) if len(ranked) else order
    right = found[ends]
    return Curve(
        thresholds=np.concatenate([[np.inf], ranked[ends]]),
        true_positives=np.concatenate([[0], right]),
        false_positives=np.concatenate([[0], ends + 1 - right]),
        positives=int(is_positive.sum()),
        negatives=int(len(scores) - is_positive.sum()),
    )


def areas_of(
    scores: Scores, truth: Labels, on_progress: Callable[[float], None] = lambda _: None
) -> Areas:
    """The areas of scores (n, classes) for images of these classes (n,).

    Takes memory for some columns alone, so that the scores may be in a file. `on_progress` is
    called with the fraction done, 0..1, and may raise to stop.
    """
    count = scores.shape[1]
    classes = []
    for column, values in _columns(scores):
        if column % _COLUMNS == 0:
            on_progress(column / count / 2)
        is_positive = truth == column
        classes.append(_area(values[is_positive], [values[~is_positive]]))
    on_progress(0.5)
    micro = _area(_own(scores, truth), _foreign(scores, truth, on_progress))
    return Areas(classes, _mean(classes), micro)


def _columns(scores: Scores) -> Iterator[tuple[int, Scores]]:
    for start in range(0, scores.shape[1], _COLUMNS):
        block = np.ascontiguousarray(scores[:, start : start + _COLUMNS].T)
        yield from enumerate(block, start)


def _own(scores: Scores, truth: Labels) -> Scores:
    """The score of each image's own class."""
    own: Scores = np.take_along_axis(scores, truth[:, None], axis=1)[:, 0]
    return own


def _foreign(
    scores: Scores, truth: Labels, on_progress: Callable[[float], None]
) -> Iterator[Scores]:
    """The scores of all other classes, in pieces."""
    step = max(1, _CHUNK // max(1, scores.shape[1]))
    for start in range(0, len(scores), step):
        on_progress(0.5 + start / len(scores) / 2)
        piece, labels = scores[start : start + step], truth[start : start + step]
        is_foreign = np.ones(piece.shape, bool)
        is_foreign[np.arange(len(labels)), labels] = False
        yield piece[is_foreign]


@dataclass(frozen=True)
class _Counted:
    """Negatives counted between the distinct scores of the positives.

    Attributes:
        steps: Those scores, the lowest first, (m,).
        counts: Positives with each of them, (m,).
        below, up_to: Negatives by how many steps are below them, and by how many are below or
            equal, (m + 1,).
    """

    steps: Floats
    counts: Numbers
    below: Numbers
    up_to: Numbers

    @property
    def positives(self) -> int:
        return int(self.counts.sum())

    @property
    def negatives(self) -> int:
        return int(self.below.sum())

    @property
    def true_positives(self) -> Numbers:
        """Positives at or above each step."""
        return self.positives - np.concatenate([[0], np.cumsum(self.counts)[:-1]])

    @property
    def false_positives(self) -> Numbers:
        """Negatives at or above each step."""
        found: Numbers = self.negatives - np.cumsum(self.up_to)[:-1]
        return found


def _counted(positives: Scores, negatives: Iterable[Scores]) -> _Counted:
    steps, counts = np.unique(positives, return_counts=True)
    below, up_to = np.zeros((2, len(steps) + 1), np.int64)
    for piece in negatives if len(steps) else ():
        below += np.bincount(np.searchsorted(steps, piece, "left"), minlength=len(below))
        up_to += np.bincount(np.searchsorted(steps, piece, "right"), minlength=len(below))
    return _Counted(steps.astype(np.float64), counts, below, up_to)


def _area(positives: Scores, negatives: Iterable[Scores]) -> Area:
    found = _counted(positives, negatives)
    num_positives, num_negatives = found.positives, found.negatives
    if not num_positives:
        return Area()
    beneath = np.concatenate([[0], np.cumsum(found.counts)])  # positives below each number of steps
    # A pair counts 1 where the negative is lower, a half where it is equal.
    won = (num_positives - beneath) @ (found.below + found.up_to) / 2
    right = found.true_positives
    precision = right / (right + found.false_positives)
    return Area(
        roc_auc=float(won / num_positives / num_negatives) if num_negatives else None,
        average_precision=float(found.counts @ precision / num_positives),
    )


def _mean(areas: list[Area]) -> Area:
    rocs = [each.roc_auc for each in areas if each.roc_auc is not None]
    found = [each.average_precision for each in areas if each.average_precision is not None]
    return Area(*(float(np.mean(values)) if values else None for values in (rocs, found)))


@dataclass(frozen=True)
class Drawn:
    """Curves as they are drawn, (m,) each; all values 0..1.

    Attributes:
        false_positive_rate, true_positive_rate: The ROC curve.
        recall, precision: The precision-recall curve, with steps.
    """

    false_positive_rate: Floats
    true_positive_rate: Floats
    recall: Floats
    precision: Floats


GRID = np.linspace(0, 1, 201)
"""Points of the x axis at which curves of several classes are averaged."""

_MOST_POINTS = 500


def drawn_class(curve: Curve) -> Drawn:
    """The curves of one class; of many points some hundred."""
    size = len(curve.thresholds)
    chosen = np.unique(np.linspace(0, size - 1, min(size, _MOST_POINTS)).round().astype(np.int64))
    rates, recall = curve.false_positive_rate[chosen], curve.recall[chosen]
    # By steps: a precision holds back to the recall before it.
    steps = np.repeat(recall, 2)[:-1]
    return Drawn(rates, recall, steps, np.repeat(curve.precision[chosen], 2)[1:])


def drawn_macro(
    scores: Scores, truth: Labels, on_progress: Callable[[float], None] = lambda _: None
) -> Drawn:
    """The mean of the curves of the classes that have them, at each place of GRID; at least one."""
    rates, precisions = np.zeros((2, len(GRID)))
    num_rates = num_precisions = 0
    for column, values in _columns(scores):
        on_progress(column / scores.shape[1])
        curve = curve_of(values, truth == column)
        if not curve.positives:
            continue
        places = np.searchsorted(curve.recall, GRID, "left")
        precisions += curve.precision[np.minimum(np.maximum(places, 1), len(curve.recall) - 1)]
        num_precisions += 1
        if curve.negatives:
            rates += _interpolated(curve.false_positive_rate, curve.recall)
            num_rates += 1
    rates, precisions = rates / max(1, num_rates), precisions / max(1, num_precisions)
    ends = np.concatenate([[0.0], GRID]), np.concatenate([[0.0], rates])
    return Drawn(*ends, GRID, precisions)


def _interpolated(x: Floats, y: Floats) -> Floats:
    """The ROC curve at the places of GRID: where it rises, its upper end."""
    last = np.append(x[1:] != x[:-1], True)
    found: Floats = np.interp(GRID, x[last], y[last])
    return found


def micro_curve(
    scores: Scores, truth: Labels, on_progress: Callable[[float], None] = lambda _: None
) -> Curve:
    """The curve of all pairs of image and class together: its points at the scores of the images'
    own classes and right above them, between which it is straight.
    """
    found = _counted(_own(scores, truth), _foreign(scores, truth, on_progress))
    above = found.true_positives - found.counts, found.negatives - np.cumsum(found.below)[:-1]
    at = found.true_positives, found.false_positives
    # The highest score first, and of each step the point above it.
    right, wrong = (
        np.stack([one[::-1], other[::-1]], axis=1).ravel()
        for one, other in zip(above, at, strict=True)
    )
    thresholds = np.repeat(found.steps[::-1], 2)
    thresholds[::2] = np.nextafter(thresholds[::2], np.inf)
    return Curve(
        np.concatenate([[np.inf], thresholds, [0.0]]),
        np.concatenate([[0], right, [found.positives]]),
        np.concatenate([[0], wrong, [found.negatives]]),
        found.positives,
        found.negatives,
    )


# thresholds ----------------------------------------------------------------------------------
# Decision thresholds of single classes: chosen on some images, tried on others.
#
# A threshold is chosen on validation images. What it gives there is too good, as it was chosen on
# them: what counts is what it gives on images kept apart.

Goal = Literal["f1", "precision", "cost", "unknown"]


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
