"""The search for a learning rate by short trainings: which to make next, and what they show."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from workbench.core.training.rate_finder.trial import Trial, accuracy_error, is_clearly_worse

Train = Callable[[float, int], Trial]
"""(value of the recipe's learning rate, steps) -> a training from the project's start."""

Verdict = Literal["keep", "change", "unknown"]

MARGIN = 0.0075
"""Difference of accuracy, 0..1, half-way through a training: rates no further apart are equally
good. At its end they were seen to be 0.6 times as far apart, less than half a point.
"""

_WIDE_MARGIN = 0.01
"""In the first, shorter trials: what is behind there may catch up."""

_ENOUGH = round(3 / MARGIN)
"""Training images: where all of so many are classified correctly, the true accuracy is above
1 - MARGIN, with a certainty of 95% (rule of three). Fewer cannot show which rates are equally good.
"""

_FINALISTS = 2
_MOST_TRIALS = 10
_MOST_FINALS = 6
_MOST_BLIND = 6
"""Trials until one has learned anything."""

_SAME = 1.35
"""Rates whose ratio is smaller are not tried both."""

_SHORT_IMAGES = 65_536
_LONG_IMAGES = 150_000

_LADDER = tuple(float(f"{digit}e{power}") for power in range(-8, 2) for digit in (1, 3))


@dataclass(frozen=True)
class Lengths:
    """Steps of the first trials and of the decisive ones."""

    short: int
    long: int


def lengths_of(total_steps: int, batch_size: int) -> Lengths:
    """Trial lengths for a training of so many steps: a quarter and half of a short one; of a long
    one 100 and 400 steps, less where batches are large. Trials much shorter than the training
    favor rates that are too low: those of half its length ranked rates as the training itself.
    """
    most_short = max(60, min(100, _SHORT_IMAGES // batch_size))
    most_long = max(120, min(400, _LONG_IMAGES // batch_size))
    short = min(total_steps, max(20, min(total_steps // 4, most_short)))
    long = min(total_steps, max(2 * short, min(total_steps // 2, most_long)))
    return Lengths(short, long)


@dataclass(frozen=True)
class Outcome:
    """What a search has found.

    Attributes:
        verdict: "keep": the project's rate is as good as any; "change": another is better;
            "unknown": no trial was better than naming the largest class always.
        suggested: The rate to train with; None where it is unknown.
        good: Rates that are as good as the best, rising; () where it is unknown.
        present: The decisive trial of the project's rate, else its first one.
        best: The best decisive trial; None where there is none.
        error: Standard error of the difference between both accuracies, 0..1.
        images: Training images, where they are too few to tell which rate is best; else 0.
    """

    verdict: Verdict
    suggested: float | None
    good: tuple[float, ...]
    present: Trial
    best: Trial | None = None
    error: float = 0.0
    images: int = 0


@dataclass
class RateSearch:
    """One search.

    Args:
        train: Makes a trial.
        present: The project's rate.
        start: Where a sweep suggests to begin; None where it does not.
        lengths: Steps of the trials.
        chance: Accuracy of always naming the largest class, 0..1.
        batch_size: Images of each step.
        num_images: Training images; 0 where that is not known.
    """

    train: Train
    present: float
    start: float | None
    lengths: Lengths
    chance: float
    batch_size: int
    num_images: int = 0
    tried: dict[int, Trial] = field(default_factory=dict)
    finals: dict[int, Trial] = field(default_factory=dict)

    def __post_init__(self) -> None:
        far = [r for r in _LADDER if not 1 / _SAME < r / self.present < _SAME]
        self._rates = sorted([*far, self.present])

    def run(self) -> Outcome:
        """Makes the trials."""
        begin = self._rates.index(self.present)
        self._try(begin)
        if self.start is not None:
            self._try(self._nearest(self.start))
        has_learned = any(self._has_learned(trial) for trial in self.tried.values())
        if not has_learned and not self._look_around(begin):
            return Outcome("unknown", None, (), self.tried[begin])
        while (rung := self._next()) is not None and len(self.tried) < _MOST_TRIALS:
            self._try(rung)
        return self._decide(begin)

    # the short trials --------------------------------------------------------------------

    def _try(self, rung: int) -> None:
        if rung not in self.tried:
            self.tried[rung] = self.train(self._rates[rung], self.lengths.short)

    def _nearest(self, rate: float) -> int:
        apart = [abs(math.log(each / rate)) for each in self._rates]
        return apart.index(min(apart))

    def _has_learned(self, trial: Trial) -> bool:
        """Whether a trial beats the naming of the largest class by more than chance."""
        count = self.batch_size * len(trial.tail)
        error = math.sqrt(self.chance * (1 - self.chance) / max(1, count))
        return trial.accuracy > self.chance + 3 * error

    def _look_around(self, begin: int) -> bool:
        """Tries rates ever further away, a decade each, until one learns."""
        for rung in (begin + 2, begin - 2, begin + 4, begin - 4, begin + 6, begin - 6):
            if len(self.tried) >= _MOST_BLIND:
                return False
            if 0 <= rung < len(self._rates):
                self._try(rung)
                if self._has_learned(self.tried[rung]):
                    return True
        return False

    def _next(self) -> int | None:
        """The neighbors of the best, then those of all that are about as good."""
        top = _top(self.tried)
        best = self.tried[top]
        good = [r for r, t in self.tried.items() if not is_clearly_worse(t, best, _WIDE_MARGIN)]
        wanted = (top + 1, top - 1, max(good) + 1, min(good) - 1)
        is_new = (rung for rung in wanted if rung in range(len(self._rates)))
        return next((rung for rung in is_new if rung not in self.tried), None)

    # the decisive ones -------------------------------------------------------------------

    def _try_long(self, rung: int) -> None:
        self.finals[rung] = self.train(self._rates[rung], self.lengths.long)

    def _climb(self, begin: int) -> None:
        """The best of the short trials, the project's rate if it is near them, and on from the
        best of these as long as there is a neighbor that could be better.
        """
        ranked = sorted(self.tried, key=lambda rung: -self.tried[rung].accuracy)
        for rung in ranked[:_FINALISTS]:
            self._try_long(rung)
        best = self.tried[ranked[0]]
        is_near = not is_clearly_worse(self.tried[begin], best, 2 * _WIDE_MARGIN)
        if is_near and begin not in self.finals:
            self._try_long(begin)
        while (beside := self._next_long()) is not None and len(self.finals) < _MOST_FINALS:
            self._try_long(beside)

    def _next_long(self) -> int | None:
        """A neighbor of the best. The longer a trial, the better are high rates: one above may
        be better now, one below only if it was about as good before.
        """
        top = _top(self.finals)
        above, below = top + 1, top - 1
        is_open = above < len(self._rates) and above not in self.finals
        if is_open and (above not in self.tried or self._has_learned(self.tried[above])):
            return above
        if below in self.tried and below not in self.finals:
            beside = self.tried.get(top)
            if beside is None or not is_clearly_worse(self.tried[below], beside, _WIDE_MARGIN):
                return below
        return None

    def _decide(self, begin: int) -> Outcome:
        self._climb(begin)
        best = self.finals[_top(self.finals)]
        good = tuple(sorted(t.rate for t in self.finals.values() if _is_as_good(t, best)))
        present = self.finals.get(begin)
        if present is None:
            return Outcome("change", best.rate, good, self.tried[begin], best)
        error = accuracy_error(best, present)
        if 0 < self.num_images < _ENOUGH and not is_clearly_worse(present, best, MARGIN):
            return Outcome("unknown", None, (), present, best, error, self.num_images)
        if _is_as_good(present, best):
            return Outcome("keep", present.rate, good, present, best, error)
        return Outcome("change", best.rate, good, present, best, error)


def _is_as_good(other: Trial, best: Trial) -> bool:
    return best.accuracy - other.accuracy <= max(MARGIN, accuracy_error(best, other))


def _top(trials: Mapping[int, Trial]) -> int:
    return max(trials, key=lambda rung: trials[rung].accuracy)
