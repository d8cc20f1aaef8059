"""Whether two accuracies differ by more than chance: on the same images, or on different ones.

On the same images only those count that one model has right and the other wrong (McNemar 1947):
by chance alone each is as likely as the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

# intervals -----------------------------------------------------------------------------------
# How certain a share is that was counted on some images.

_Z = 1.959963984540054
"""Quantile of the normal distribution for 95%."""


def share_error(share: float, count: int) -> float:
    """Standard error of a share 0..1 that was counted on so many images.

    Binomial, with two hits and two misses added (Agresti and Coull, 1998): also of use for few
    images, and where all are right.
    """
    total = count + 4
    middle = (min(max(share, 0.0), 1.0) * count + 2) / total  # a log may hold anything
    return math.sqrt(middle * (1.0 - middle) / total)


def wilson_interval(right: float, count: int) -> tuple[float, float]:
    """The 95% interval of a share of `right` among `count` independent images, by Wilson (1927):
    it stays within 0..1 and holds for few images, too. (0, 1) where there are none.
    """
    if count <= 0:
        return 0.0, 1.0
    right = min(max(right, 0), count)  # a file may hold anything
    share = right / count
    scale = 1 + _Z**2 / count
    middle = (share + _Z**2 / (2 * count)) / scale
    half = _Z / scale * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    low = 0.0 if right == 0 else max(0.0, middle - half)
    return low, 1.0 if right == count else min(1.0, middle + half)


# slices --------------------------------------------------------------------------------------
# Accuracy on slices of the evaluated images: those of one range of values, or of one group.
#
# Images are numbers in the columns of an evaluation. A slice is only as good as its number of
# images: each has the interval of its accuracy.

MOST_RANGES = 5
"""Ranges of values: more of them are too small in a test set of a few hundred images."""

FEW = 30
"""Fewer images are few: at an accuracy of one half the interval is wider than 34 points."""

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Marks = np.ndarray[Any, np.dtype[np.bool_]]
Values = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Slice:
    """A subset of the evaluated images with something in common.

    Attributes:
        name: What they have in common.
        numbers: Which images, (n,), at least one.
        right: How many of them are classified right.
    """

    name: str
    numbers: Numbers
    right: int

    @property
    def count(self) -> int:
        """How many images it has."""
        return len(self.numbers)

    @property
    def accuracy(self) -> float:
        """The share that is classified right, 0..1."""
        return self.right / self.count

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the accuracy, by Wilson."""
        return wilson_interval(self.right, self.count)

    @property
    def has_few(self) -> bool:
        """Whether it has too few images to say much."""
        return self.count < FEW


def worst_first(slices: Iterable[Slice]) -> list[Slice]:
    """The lowest accuracy first; of equal ones that of most images, then by name."""
    return sorted(slices, key=lambda each: (each.accuracy, -each.count, each.name))


def in_ranges(
    values: Values, is_right: Marks, name_of: Callable[[float, float], str]
) -> list[Slice]:
    """Slices by a value: one for each where there are few values, else ranges of about as many
    images each, lowest first.

    Args:
        values: (n,), finite.
        is_right: Which images are classified right, (n,).
        name_of: The name of a range by its least and its greatest value.
    """
    distinct = np.unique(values)
    if len(distinct) <= MOST_RANGES:
        starts = distinct[1:]
    else:
        shares = np.arange(1, MOST_RANGES) / MOST_RANGES
        starts = np.unique(np.quantile(values, shares, method="higher"))
    groups = np.searchsorted(starts, values, side="right")
    found = []
    for group in np.unique(groups):
        numbers = np.flatnonzero(groups == group)
        least, greatest = values[numbers].min(), values[numbers].max()
        found.append(_slice(name_of(float(least), float(greatest)), numbers, is_right))
    return found


def in_groups(
    groups: Values, is_right: Marks, names: Mapping[int, str] | Sequence[str]
) -> list[Slice]:
    """Slices by the number of a group, (n,): those that have images, each with its name."""
    order = np.argsort(groups, kind="stable")
    found, starts = np.unique(groups[order], return_index=True)
    pieces = np.split(order, starts[1:])
    return [
        _slice(names[int(group)], numbers, is_right)
        for group, numbers in zip(found, pieces, strict=False)  # without images: one empty piece
    ]


def _slice(name: str, numbers: Numbers, is_right: Marks) -> Slice:
    return Slice(name, numbers, int(is_right[numbers].sum()))


# map comparison ------------------------------------------------------------------------------
# What the comparison of a heat map with that of random weights says, for window and terminal.

ALIKE, PARTLY_ALIKE = 0.7, 0.4
"""Rank correlations from which on two maps look alike, or a little: a map of 7 × 7 places, as of
many networks, correlates by up to 0.4 with unrelated ones."""


def comparison_words(correlation: float | None) -> str:
    """What it means for the map.

    Args:
        correlation: Spearman's rank correlation of both maps; None where one is the same
            everywhere.
    """
    if correlation is None:
        return "One of the maps is the same everywhere: they cannot be compared."
    figure = f"rank correlation {correlation:.2f}; 1 is the same map, 0 is unrelated"
    if correlation >= ALIKE:
        return (
            f"The maps are alike ({figure}): this map shows the picture, as its edges, more than "
            "what was learned. Rely on another method."
        )
    if correlation >= PARTLY_ALIKE:
        return (
            f"The maps are partly alike ({figure}): some of this map would be there without any "
            "training."
        )
    return f"The maps differ ({figure}): this map comes from what the network has learned."


# significance --------------------------------------------------------------------------------

FEW_DISCORDANT = 25
"""Fewer such images: the exact binomial test, else chi-square with continuity correction (Edwards
1948)."""

_RESAMPLES = 10_000
_SEED = 20_240_501
"""Seed of the bootstrap: the same runs give the same interval each time."""

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class PairedTest:
    """Two models on the same images.

    Attributes:
        count: The images.
        gained: Those that the second model alone has right.
        lost: Those that the first one alone has right.
        p_value: P value of McNemar's test, two-sided.
        is_exact: It is the exact binomial test.
        low, high: The 95% interval of the second accuracy less the first one, by a paired
            bootstrap.
    """

    count: int
    gained: int
    lost: int
    p_value: float
    is_exact: bool
    low: float
    high: float

    @property
    def difference(self) -> float:
        """The second accuracy less the first one, -1..1."""
        return (self.gained - self.lost) / self.count

    @property
    def is_significant(self) -> bool:
        """Whether chance alone gives such a difference in less than one case of twenty."""
        return self.p_value < SIGNIFICANT


def paired_test(count: int, gained: int, lost: int) -> PairedTest:
    """The test of two models on so many images, at least one."""
    is_exact = gained + lost < FEW_DISCORDANT
    p_value = exact_mcnemar(gained, lost) if is_exact else chi_square_mcnemar(gained, lost)
    low, high = _bootstrap(count, gained, lost)
    return PairedTest(count, gained, lost, p_value, is_exact, low, high)


def exact_mcnemar(gained: int, lost: int) -> float:
    """The two-sided p-value of a sign test: of at most so many out of all at one half each."""
    total, fewer = gained + lost, min(gained, lost)
    if gained == lost:
        return 1.0
    ways: int = sum(math.comb(total, number) for number in range(fewer + 1))
    return min(1.0, 2 * ways / (1 << total))


def chi_square_mcnemar(gained: int, lost: int) -> float:
    """The p-value of chi-square with one degree of freedom, with continuity correction."""
    if gained == lost:
        return 1.0
    statistic = (abs(gained - lost) - 1) ** 2 / (gained + lost)
    return math.erfc(math.sqrt(statistic / 2))


def _bootstrap(count: int, gained: int, lost: int) -> tuple[float, float]:
    """Images drawn with replacement are so many gained, lost and equal ones: multinomial."""
    shares = [gained / count, lost / count, (count - gained - lost) / count]
    drawn = np.random.default_rng(_SEED).multinomial(count, shares, _RESAMPLES)
    low, high = np.quantile((drawn[:, 0] - drawn[:, 1]) / count, (0.025, 0.975))
    return float(low), float(high)


@dataclass(frozen=True)
class UnpairedTest:
    """Two accuracies on images that cannot be matched.

    Attributes:
        difference: The second accuracy less the first one, -1..1.
        p_value: P value of the z-test of two proportions with a pooled variance, two-sided.
        low, high: The 95% interval of the difference by Newcombe (1998), from Wilson's.
    """

    difference: float
    p_value: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant at SIGNIFICANT."""
        return self.p_value < SIGNIFICANT


def unpaired_test(right: tuple[float, float], counts: tuple[int, int]) -> UnpairedTest:
    """The test of two shares: so many right of so many independent images, at least one each."""
    first, second = (number / total for number, total in zip(right, counts, strict=True))
    pooled = sum(right) / sum(counts)
    variance = pooled * (1 - pooled) * (1 / counts[0] + 1 / counts[1])
    p_value = math.erfc(abs(second - first) / math.sqrt(2 * variance)) if variance else 1.0
    (low_1, high_1), (low_2, high_2) = map(wilson_interval, right, counts)
    return UnpairedTest(
        second - first,
        p_value,
        second - first - math.hypot(second - low_2, high_1 - first),
        second - first + math.hypot(high_2 - second, first - low_1),
    )


# class orders --------------------------------------------------------------------------------
# The order of the classes of a network from elsewhere, judged by images with known classes.

Mask = np.ndarray[Any, np.dtype[np.bool_]]

LEVEL = 0.01
"""An order is taken where chance explains its lead over every other one less often than this."""

_WORSE = 0.05
"""A single order is doubted where as few hits as its are rarer than this by chance."""

_STRICT = 0.001
"""Level of chance for an order that was fitted to the images: of many orders, one is good by
chance."""

_MOST_CLASSES = 300
"""Fitting takes the cube of this many steps."""

FITTED = "best_fit"
"""Key of the order that fits the images best, of all orders."""


@dataclass(frozen=True)
class Judged:
    """What the images say about some orders.

    Attributes:
        right: Correct images by key of the order; that of FITTED is counted on images that it was
            not fitted to.
        chosen: Key of the order that the images confirm; "" where they confirm none.
        fitted: The order that fits the images far better than all others, the class of each
            output; () where there is none.
    """

    right: Mapping[str, int]
    chosen: str
    fitted: tuple[int, ...] = ()


def judge(orders: Mapping[str, Sequence[int]], predicted: Numbers, truth: Numbers) -> Judged:
    """Judges orders of classes by images.

    A single order needs no confirmation, only that no other one fits far better, and that it is not
    worse than chance: where the images are few, no other one can be shown. Of several, one is
    confirmed that is better than each other one (McNemar's exact test) and than chance (binomial
    test), both at `LEVEL`.

    Args:
        orders: For each output the number of its class, by key.
        predicted: The output of the largest probability for each image, int64 (n,).
        truth: The class of each image, int64 (n,).
    """
    hits = {key: np.asarray(order)[predicted] == truth for key, order in orders.items()}
    best = max(hits, key=lambda key: int(hits[key].sum()))
    right = {key: int(hit.sum()) for key, hit in hits.items()}
    size = len(orders[best])
    crossed = _cross_fitted(predicted, truth, size)
    if crossed is not None and _leads(crossed, hits[best], _STRICT):
        fitted = tuple(best_order(predicted, truth, size))
        return Judged({**right, FITTED: int(crossed.sum())}, "", fitted)
    others = [hit for key, hit in hits.items() if key != best]
    is_clear = all(_leads(hits[best], other, LEVEL) for other in others)
    count = len(truth)
    is_good = chance_of(right[best], count, 1 / size) < LEVEL
    # At most so many hits: what is left of all are at least so many misses.
    is_bad = chance_of(count - right[best], count, 1 - 1 / size) < _WORSE
    is_taken = is_clear and is_good if others else not is_bad
    return Judged(right, best if is_taken else "")


def chance_of(hits: int, total: int, share: float) -> float:
    """The probability of at least so many hits among so many trials, each with that probability."""
    return float(
        sum(
            comb(total, number) * share**number * (1 - share) ** (total - number)
            for number in range(hits, total + 1)
        )
    )


def _leads(first: Mask, second: Mask, level: float) -> bool:
    """Whether the first order has more images right than the second one, not by chance."""
    more, fewer = int((first & ~second).sum()), int((second & ~first).sum())
    return more > fewer and exact_mcnemar(more, fewer) < level


def _cross_fitted(predicted: Numbers, truth: Numbers, size: int) -> Mask | None:
    """Whether each image is right by the order that fits the other half of the images best; None
    where there are too many classes.
    """
    if size > _MOST_CLASSES or len(truth) < 2:
        return None
    half = np.zeros(len(truth), np.bool_)
    half[np.argsort(truth, kind="stable")[::2]] = True  # every second image of each class
    hit = np.zeros(len(truth), np.bool_)
    for fitted, judged in ((half, ~half), (~half, half)):
        order = np.asarray(best_order(predicted[fitted], truth[fitted], size))
        hit[judged] = order[predicted[judged]] == truth[judged]
    return hit


def best_order(predicted: Numbers, truth: Numbers, size: int) -> list[int]:
    """The class of each output, each class once, under which most images are right; of equal ones,
    one that leaves outputs where they are.
    """
    counts = np.zeros((size, size), np.int64)
    np.add.at(counts, (predicted, truth), 1)
    # Outputs without images keep their class: no sum of these reaches one image.
    return _assigned(-(counts * (size + 1.0) + np.eye(size)))


def _assigned(costs: np.ndarray[Any, np.dtype[np.float64]]) -> list[int]:
    """The column of each row, each once, with the smallest sum of costs: the Hungarian method by
    shortest augmenting paths (Jonker and Volgenant, 1987).
    """
    size = len(costs)
    row_price, column_price = np.zeros(size + 1), np.zeros(size + 1)
    row_of = np.full(size + 1, size)  # the last column stands for the row that is to be placed
    for row in range(size):
        row_of[size], column = row, size
        lowest, before = np.full(size, np.inf), np.full(size, size)
        seen = np.zeros(size + 1, np.bool_)
        while row_of[column] != size:
            seen[column] = True
            current = row_of[column]
            reduced = costs[current] - row_price[current] - column_price[:size]
            is_shorter = ~seen[:size] & (reduced < lowest)
            lowest[is_shorter], before[is_shorter] = reduced[is_shorter], column
            following = int(np.argmin(np.where(seen[:size], np.inf, lowest)))
            step = lowest[following]
            row_price[row_of[seen]] += step
            column_price[seen] -= step
            lowest[~seen[:size]] -= step
            column = following
        while column != size:
            row_of[column] = row_of[before[column]]
            column = int(before[column])
    found = [0] * size
    for column in range(size):
        found[row_of[column]] = column
    return found
