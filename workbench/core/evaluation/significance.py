"""Whether two accuracies differ by more than chance: on the same images, or on different ones.

On the same images only those count that one model has right and the other wrong (McNemar 1947):
by chance alone each is as likely as the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workbench.core.evaluation.intervals import wilson_interval

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
