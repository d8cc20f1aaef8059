"""Which learning rate to train with: a sweep finds where to begin, short trainings decide.

Leslie Smith's range test ("Cyclical Learning Rates for Training Neural Networks", WACV 2017)
alone misleads: normalized networks train best far above the rate where a rising one first makes
the loss climb, others far below the end of a second valley. So only its first descent is used, as
one of two places where short trainings from the same start begin to look.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from workbench.core.format import rate_text, share
from workbench.core.training.learning_rates import learning_rate_at
from workbench.core.training.recipe import TrainingRecipe

# sweep ---------------------------------------------------------------------------------------
# A sweep from small to large learning rates: where it has diverged, and its first descent.

Values = np.ndarray[Any, np.dtype[np.float64]]

DIVERGED = 3.0
"""A smoothed loss of so many times the lowest one ends a sweep."""

_STEPS = 120

_SMOOTHING = 0.85
_SMOOTHED_NOISE = math.sqrt((1 - _SMOOTHING) / (1 + _SMOOTHING))
"""Noise of the smoothed losses for each unit of noise of the losses (of an exponential mean)."""

_SETTLED = 10
"""Steps until the smoothing averages enough; the rates are so low there that little changes."""

_WINDOW = 24
"""Steps that the noise around a step is taken from."""

_NOISES = 4.0
"""A fall or climb counts from so many times the noise of the smoothed losses on."""

_LEAST_FALL = 0.005
"""Share of the loss before a fall: a smaller one decides nothing however little noise there is."""


@dataclass(frozen=True)
class Descent:
    """The first stretch of rising rates on which the loss falls by more than noise.

    Attributes:
        rate: Rate at its lowest point, where the loss falls no more.
        fall: How far the smoothed loss has fallen there.
    """

    rate: float
    fall: float

    @property
    def start(self) -> float:
        """Rate at which to begin to look for a good one: the loss answers late to a rising rate."""
        return self.rate / 3


def sweep_steps(batch_size: int) -> int:
    """Steps of a sweep: more for small batches, whose loss is noisier; passes may be repeated."""
    return round(_STEPS * min(2.0, max(1.0, math.sqrt(256 / batch_size))))


def smoothed(losses: Values) -> Values:
    """An exponential mean over the steps, corrected at the start, float64 (n,)."""
    mean, out = 0.0, np.empty(len(losses))
    for index, loss in enumerate(losses):
        mean = _SMOOTHING * mean + (1 - _SMOOTHING) * loss
        out[index] = mean / (1 - _SMOOTHING ** (index + 1))
    return out


def has_diverged(losses: Values) -> bool:
    """Whether a sweep has gone far enough: the loss is no number, or far above its lowest."""
    if not len(losses):
        return False
    if not math.isfinite(losses[-1]):
        return True
    curve = smoothed(losses)
    return bool(curve[-1] > DIVERGED * np.min(curve))


def batch_noise(losses: Values) -> float:
    """Standard deviation of the loss between batches, from the differences of neighbors: what
    changes slowly is no noise, and a few leaps count little.
    """
    if len(losses) < 3:
        return 0.0
    leaps = np.diff(losses)
    spread = np.median(np.abs(leaps - np.median(leaps)))
    return float(spread / 0.6745 / math.sqrt(2))  # of a normal distribution, of one loss


def first_descent(rates: Values, losses: Values) -> Descent | None:
    """The first descent of a sweep; None where the loss never falls by more than noise.

    `losses` (n,) are those of the steps made with rising `rates` (n,). It ends where the loss
    climbs by more than noise: a valley behind that hump is ignored, nor is anything from
    the first loss on that is not a finite number.
    """
    end = _end(losses)
    if end <= _SETTLED:
        return None
    curve, losses = smoothed(losses[:end])[_SETTLED:], losses[:end]
    rates = rates[_SETTLED:end]
    highest, lowest = float(curve[0]), 0
    for step, value in enumerate(curve):
        near = _threshold(losses[max(0, step + _SETTLED - _WINDOW) : step + _SETTLED], highest)
        has_fallen = highest - curve[lowest] > near
        if has_fallen and value - curve[lowest] > near:
            break
        if value < curve[lowest]:
            lowest = step
        elif not has_fallen and value > highest:
            highest, lowest = float(value), step
    fall = highest - float(curve[lowest])
    window = losses[max(0, lowest + _SETTLED - _WINDOW) : lowest + _SETTLED]
    return Descent(float(rates[lowest]), fall) if fall > _threshold(window, highest) else None


def _end(losses: Values) -> int:
    """Steps before the loss is no finite number or has diverged."""
    bad = ~np.isfinite(losses)
    curve = smoothed(np.where(bad, 0.0, losses))
    bad |= curve > DIVERGED * np.minimum.accumulate(np.where(bad, np.inf, curve))
    return int(np.argmax(bad)) if bad.any() else len(losses)


def _threshold(losses: Values, level: float) -> float:
    """What a fall or climb of the smoothed losses must exceed."""
    noise = _NOISES * math.sqrt(2) * _SMOOTHED_NOISE * batch_noise(losses)
    return max(noise, _LEAST_FALL * abs(level))


# trial ---------------------------------------------------------------------------------------
# A short training with one learning rate, and how sure it is that another is better.

TAIL = 0.25
"""Part of a trial's steps, its last ones, that it is judged by."""

RISEN = 2.0
"""A trial that ends with so many times its first loss has diverged."""

_BLOCKS = 8
"""Neighboring batches depend on each other; the means of so many blocks hardly do."""


@dataclass(frozen=True)
class Trial:
    """One short training from the project's own start.

    Attributes:
        rate: Value of the recipe's learning rate.
        steps: Its length; the whole schedule is passed through in it.
        losses: Training loss of each step, float64 (n,), n < steps where it diverged.
        accuracies: Training accuracy of each step's images before the step, 0..1, float64 (n,).
        images: Different images among those of its last steps, which it is judged by; 0 where that
            is not known.
    """

    rate: float
    steps: int
    losses: Values
    accuracies: Values
    images: int = 0

    @property
    def has_diverged(self) -> bool:
        """A loss was not a finite number, or the last ones are far above the first: where nearly
        every image is easy, accuracy alone would not show it.
        """
        if len(self.losses) < self.steps or not bool(np.isfinite(self.losses).all()):
            return True
        return float(np.mean(self.losses[-tail_steps(self.steps) :])) > RISEN * float(
            self.losses[0]
        )

    @property
    def tail(self) -> Values:
        """Accuracies of the last steps, float64 (m,); zeros where it diverged."""
        count = tail_steps(self.steps)
        return np.zeros(count) if self.has_diverged else self.accuracies[-count:]

    @property
    def accuracy(self) -> float:
        """Mean accuracy of the last steps, 0..1; 0 where it diverged."""
        return float(np.mean(self.tail))

    @property
    def loss(self) -> float | None:
        """Mean loss of the last steps; None where it diverged."""
        return None if self.has_diverged else float(np.mean(self.losses[-tail_steps(self.steps) :]))


def tail_steps(steps: int) -> int:
    """How many of a trial's steps, the last ones, it is judged by."""
    return max(1, round(TAIL * steps))


def trial_rates(
    recipe: TrainingRecipe, rate: float, steps: int, total_steps: int, steps_per_epoch: int
) -> Values:
    """The effective rate of each step of a trial, float64 (steps,): the schedule of the whole
    training, warm-up and decay included, at evenly spaced steps of it.
    """
    tried = recipe.with_values(learning_rate=rate)
    places = np.arange(steps) * total_steps // steps
    return np.array(
        [learning_rate_at(tried, int(place), total_steps, steps_per_epoch) for place in places]
    )


def accuracy_error(best: Trial, other: Trial) -> float:
    """Standard error of the difference of two trials' accuracies.

    Trials of one length are trained on the same batches, so what one batch is easier than
    another does not count. Where batches do not differ, as all images are learned, it is still that
    of so many images (Agresti and Min, "Simple Improved Confidence Intervals for Comparing Matched
    Proportions", 2005: half an image more in each cell of the table of both answers).
    """
    return max(_between_batches(best, other), _of_images(best, other))


def _of_images(best: Trial, other: Trial) -> float:
    images = min(best.images, other.images)
    if not images:
        return 0.0
    apart = abs(best.accuracy - other.accuracy) * images
    return math.sqrt(apart + 1.0 - apart**2 / (images + 2)) / (images + 2)


def _between_batches(best: Trial, other: Trial) -> float:
    differences = best.tail - other.tail
    blocks = np.array_split(differences, min(_BLOCKS, len(differences)))
    if len(blocks) < 2:
        return 0.0
    means = [float(np.mean(block)) for block in blocks]
    return float(np.std(means, ddof=1)) / math.sqrt(len(means))


def is_clearly_worse(other: Trial, best: Trial, margin: float) -> bool:
    """Whether a trial is behind another by more than a margin (0..1), and more than by chance."""
    difference = best.accuracy - other.accuracy
    return difference > max(margin, 2 * accuracy_error(best, other))


# search --------------------------------------------------------------------------------------
# The search for a learning rate by short trainings: which to make next, and what they show.

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


# answer --------------------------------------------------------------------------------------
# What a search for a learning rate has found, in words.


def answer_words(outcome: Outcome, *, chance: float, has_fallen: bool) -> str:
    """The answer in two sentences: what to do, and what was measured.

    Args:
        outcome: What was found.
        chance: Accuracy of always naming the largest class, 0..1.
        has_fallen: The loss fell while the rate was raised.
    """
    present = outcome.present
    if outcome.best is None:
        return _unknown(present, chance, has_fallen=has_fallen)
    if outcome.images:
        return _too_few(outcome, outcome.best)
    best, rate = outcome.best, rate_text(present.rate)
    if outcome.verdict == "keep" and len(outcome.good) == 1:
        return f"Your rate {rate} is the best of the rates tried; keep it. {_measured(best)}."
    if outcome.verdict == "keep":
        words = f"Your rate {rate} is within the good range ({_range(outcome.good)}); keep it."
        if best is present:
            return f"{words} {_measured(best)}, the best of the rates tried."
        return f"{words} {_measured(present)}; {_beside(best)}, {_equal_words(outcome, best)}"
    words = f"{rate_text(best.rate)} is better than your rate {rate}. Good range: "
    return f"{words}{_range(outcome.good)}. {_measured(best)}; {_beside(present)}."


def _measured(trial: Trial) -> str:
    return f"{_beside(trial)} after {trial.steps:,} steps"


def _equal_words(outcome: Outcome, best: Trial) -> str:
    """Why a rate is kept that another was better than."""
    more, equal = best.accuracy - outcome.present.accuracy, max(MARGIN, outcome.error)
    return (
        f"{_points(more, 1)} more. Up to {_points(equal, 2)} count as equal, as differences shrink "
        f"until the end of a training (standard error {_error_words(outcome.error)})."
    )


def _error_words(error: float) -> str:
    return _points(error, 1) if error >= 0.0005 else "below 0.1 points"


def _too_few(outcome: Outcome, best: Trial) -> str:
    """Why the accuracies of few images, each seen again and again, show no best rate."""
    present, certain = outcome.present, 2 * outcome.error
    beside = "" if best is present else f"; {_beside(best)}"
    return (
        f"Too few images to tell: of {outcome.images:,} training images, a difference of up to "
        f"{_points(certain, 1)} may be chance, and they are memorized. Keep "
        f"{rate_text(present.rate)}, or compare rates by cross-validation. {_measured(present)}"
        f"{beside}."
    )


def _points(accuracy: float, digits: int) -> str:
    return f"{100 * accuracy:.{digits}f} points"


def _beside(trial: Trial) -> str:
    if trial.has_diverged:
        return f"{rate_text(trial.rate)} diverges"
    return f"{rate_text(trial.rate)}: {share(trial.accuracy)} training accuracy"


def _range(rates: Sequence[float]) -> str:
    low, high = rate_text(min(rates)), rate_text(max(rates))
    return low if low == high else f"{low} to {high}"


def _unknown(present: Trial, chance: float, *, has_fallen: bool) -> str:
    if not has_fallen:
        return "No learning rate lowered the loss. Check input scaling and labels."
    return (
        f"Inconclusive: in {present.steps:,} steps no learning rate was better than always "
        f"predicting the largest class ({share(chance)}). Keep {rate_text(present.rate)}, or "
        "check input scaling and labels."
    )
