"""A short training with one learning rate, and how sure it is that another is better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.training.learning_rates import learning_rate_at
from workbench.core.training.recipe import TrainingRecipe

Values = np.ndarray[Any, np.dtype[np.float64]]

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
