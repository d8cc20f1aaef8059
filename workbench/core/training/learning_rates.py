"""Learning-rate schedules: the rate of each step, for trainer, drawing and export alike.

Steps count from 0. The schedules are plug-ins, see `schedules/`; here they get a linear warm-up
(Goyal et al., 2017) and the recipe's peak rate. What depends on how training goes (a plateau) is
a factor upon it, see `core.training.progress_rules`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
