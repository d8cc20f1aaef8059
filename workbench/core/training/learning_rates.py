"""Learning-rate schedules: the rate of each step, for trainer, drawing and export alike.

Steps count from 0. The schedules are plug-ins, see `schedules/`; here they get a linear warm-up
(Goyal et al., 2017) and the recipe's peak rate. What depends on how training goes (a plateau) is
a factor upon it, see `core.training.progress_rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.format import count, plural, rate_text
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.specs import Array


def warm_up_steps(recipe: TrainingRecipe, total_steps: int, steps_per_epoch: int) -> int:
    """Steps in which the rate climbs to its full size."""
    if recipe.warmup_epochs is None:
        return int(total_steps * recipe.schedule_spec.warm_up_share)
    return min(total_steps, round(recipe.warmup_epochs * steps_per_epoch))


def learning_rate_at(
    recipe: TrainingRecipe, step: int, total_steps: int, steps_per_epoch: int
) -> float:
    """The learning rate of one step, counted from 0."""
    return float(rates_at(recipe, np.array([step]), total_steps, steps_per_epoch)[0])


def learning_rates(
    recipe: TrainingRecipe, first_step: int, count: int, total_steps: int, steps_per_epoch: int
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The rates of the steps from `first_step` on, float32 (count,)."""
    steps = np.arange(first_step, first_step + count)
    return rates_at(recipe, steps, total_steps, steps_per_epoch).astype(np.float32)


def end_rate(recipe: TrainingRecipe, total_steps: int, steps_per_epoch: int) -> float:
    """Learning rate of the schedule when the last step is over.

    Curves go on falling during that step; a drop that would come behind it is none.
    """
    end = total_steps if recipe.schedule_spec.drops is None else total_steps - 1
    return learning_rate_at(recipe, max(end, 0), total_steps, steps_per_epoch)


def curve(
    recipe: TrainingRecipe, total_steps: int, steps_per_epoch: int, points: int = 400
) -> tuple[Array, Array]:
    """The schedule for drawing.

    Returns:
        Steps, at most `points` of them from 0 to the last one, and their rates; both sides of
        each corner (the end of the warm-up, every drop) are among them.
    """
    last = max(total_steps - 1, 0)
    steps = np.linspace(0, last, min(points, last + 1)).round()
    corners = _all_corners(recipe, total_steps, steps_per_epoch)[: points // 2]
    steps = np.sort(np.concatenate([steps, corners, corners - 1]))
    # np.unique would load numpy.ma, at the first sight of the train view.
    is_new = np.concatenate([[True], steps[1:] != steps[:-1]])
    steps = steps[is_new & (steps >= 0) & (steps <= last)]
    return steps, rates_at(recipe, steps, total_steps, steps_per_epoch)


def rates_at(
    recipe: TrainingRecipe, steps: np.ndarray[Any, Any], total_steps: int, steps_per_epoch: int
) -> Array:
    """The rates of any steps, float64, of the shape of `steps`."""
    head = _fine_tuning_start(recipe, total_steps, steps_per_epoch)
    if head is None:
        return _rates_of_phase(recipe, steps, total_steps, steps_per_epoch)
    in_head = np.minimum(steps, head - 1)
    in_tuning = np.maximum(steps - head, 0)
    tuning = recipe.in_fine_tuning()
    return np.where(
        steps < head,
        _rates_of_phase(recipe, in_head, head, steps_per_epoch),
        _rates_of_phase(tuning, in_tuning, total_steps - head, steps_per_epoch),
    )


def _fine_tuning_start(
    recipe: TrainingRecipe, total_steps: int, steps_per_epoch: int
) -> int | None:
    """The step, counted from 0, that fine-tuning begins with; None where there is none."""
    if recipe.fine_tuning_after is None:
        return None
    head = recipe.fine_tuning_after * steps_per_epoch
    return head if head < total_steps else None


def _rates_of_phase(
    recipe: TrainingRecipe, steps: np.ndarray[Any, Any], total_steps: int, steps_per_epoch: int
) -> Array:
    """The rates of steps counted from the start of a phase of `total_steps`."""
    spec, steps = recipe.schedule_spec, steps.astype(np.float64)
    warm_up = warm_up_steps(recipe, total_steps, steps_per_epoch)
    climbed = (steps + 1) / (warm_up + 1)
    if spec.start_divisor:
        start = 1 / spec.start_divisor
        climbed = start + (1 - start) * steps / max(1, warm_up)
    skipped = 0 if spec.counts_warm_up else warm_up
    factors = spec.factors(
        recipe.values_of(spec),
        np.maximum(steps - skipped, 0),
        total_steps - skipped,
        steps_per_epoch,
    )
    return recipe.peak_rate * np.where(steps < warm_up, climbed, factors)


def _all_corners(recipe: TrainingRecipe, total_steps: int, steps_per_epoch: int) -> Array:
    head = _fine_tuning_start(recipe, total_steps, steps_per_epoch)
    if head is None:
        return _corners(recipe, total_steps, steps_per_epoch)
    tuning = _corners(recipe.in_fine_tuning(), total_steps - head, steps_per_epoch)
    return np.concatenate([_corners(recipe, head, steps_per_epoch), [float(head)], head + tuning])


def _corners(recipe: TrainingRecipe, total_steps: int, steps_per_epoch: int) -> Array:
    spec, warm_up = recipe.schedule_spec, warm_up_steps(recipe, total_steps, steps_per_epoch)
    corners = np.array([warm_up + 1.0, warm_up] if warm_up else [])
    if spec.drops is None:
        return corners
    drops = spec.drops(recipe.values_of(spec), total_steps, steps_per_epoch)
    return np.concatenate([corners, drops])


# longer --------------------------------------------------------------------------------------
# What it means to train a run for more epochs than were planned.

_SAMPLES = 256
"""Steps at which two plans are compared; schedules that differ do so nearly everywhere."""


@dataclass(frozen=True)
class LongerTraining:
    """A training that can go on after its last planned epoch.

    Attributes:
        recipe: By which it was trained, with the epochs that were planned.
        epochs_done: Whole epochs done, at least 1.
        step: Steps done.
        is_stopped_early: Early stopping ends it here.
    """

    recipe: TrainingRecipe
    epochs_done: int
    step: int
    is_stopped_early: bool = False

    @property
    def steps_per_epoch(self) -> int:
        """Steps of an epoch."""
        return max(1, self.step // max(1, self.epochs_done))

    def is_as_planned(self, epochs: int) -> bool:
        """Whether every step so far had the learning rate that it has in a training planned for
        `epochs` from its start.
        """
        steps = np.linspace(0, self.step - 1, min(self.step, _SAMPLES)).round()
        return bool((self._rates(steps, self.recipe.epochs) == self._rates(steps, epochs)).all())

    def words(self, epochs: int) -> list[str]:
        """What training to `epochs` in total means, in sentences."""
        return [
            *filter(None, (self.rate_words(epochs), self._patience_words())),
            self._kept_words(),
        ]

    def rate_words(self, epochs: int) -> str:
        """What becomes of the learning rate."""
        planned = f"a run planned for {plural(epochs, 'epoch')}"
        if self.is_as_planned(epochs):
            words = "The learning rate does not depend on the number of epochs"
            return (
                f"{words}."
                if self.is_stopped_early
                else f"{words}: the result is that of {planned}."
            )
        (last,) = self._rates(np.array([self.step - 1]), self.recipe.epochs)
        (following,) = self._rates(np.array([self.step]), epochs)
        return (
            f"The learning rate follows {self.recipe.schedule_spec.text} over "
            f"{plural(epochs, 'epoch')}: it continues at {rate_text(following)}, after "
            f"{rate_text(last)} in the last step. The result "
            f"differs from that of {planned}."
        )

    def _patience_words(self) -> str:
        patience = self.recipe.early_stopping_patience
        if not self.is_stopped_early or patience is None:
            return ""
        return (
            f"Early stopping ended it after {plural(self.epochs_done, 'epoch')}; its patience of "
            f"{plural(patience, 'epoch')} is counted from there."
        )

    def _kept_words(self) -> str:
        if self.recipe.keep == "best":
            return "The saved weights are replaced when an epoch is better than the best so far."
        return (
            f"The weights saved after epoch {count(self.epochs_done)} are replaced by later ones; "
            "export them first to keep them."
        )

    def _rates(self, steps: Array, epochs: int) -> Array:
        per_epoch = self.steps_per_epoch
        return rates_at(self.recipe, steps, epochs * per_epoch, per_epoch)
