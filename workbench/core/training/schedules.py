"""Learning-rate schedules: the rate of each step, for trainer, drawing and export alike.

Steps count from 0. Shapes follow the papers: the cosine of Loshchilov and Hutter (SGDR, 2017),
the one cycle of Smith (2018) with straight flanks, and a linear warm-up before any of them
(Goyal et al., 2017). What depends on how training goes (a plateau) is a factor upon it,
see `core.training.progress_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.core.training.recipe import TrainingRecipe

Array = np.ndarray[Any, np.dtype[np.float64]]

_WARM_UP_SHARES: Mapping[str, float] = {"cosine": 0.03, "one_cycle": 0.3}
"""Part of all steps in which a schedule climbs where the recipe leaves it open."""

_CYCLE_START = 1 / 25
"""Where one cycle starts, as a share of its peak."""


def warm_up_steps(recipe: TrainingRecipe, total_steps: int, steps_per_epoch: int) -> int:
    """Steps in which the rate climbs to its full size."""
    if recipe.warmup_epochs is None:
        return int(total_steps * _WARM_UP_SHARES.get(recipe.schedule, 0.0))
    return min(total_steps, round(recipe.warmup_epochs * steps_per_epoch))


def learning_rate_at(
    recipe: TrainingRecipe, step: int, total_steps: int, steps_per_epoch: int
) -> float:
    """The learning rate of one step, counted from 0."""
    return float(_rates(recipe, np.array([step]), total_steps, steps_per_epoch)[0])


def learning_rates(
    recipe: TrainingRecipe, first_step: int, count: int, total_steps: int, steps_per_epoch: int
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The rates of the steps from `first_step` on, float32 (count,)."""
    steps = np.arange(first_step, first_step + count)
    return _rates(recipe, steps, total_steps, steps_per_epoch).astype(np.float32)


def end_rate(recipe: TrainingRecipe, total_steps: int, steps_per_epoch: int) -> float:
    """Where the schedule has come to when the last step is over.

    Curves go on falling during that step; a fall "in steps" that would come behind it is none.
    """
    end = total_steps - 1 if recipe.schedule == "step" else total_steps
    return learning_rate_at(recipe, max(end, 0), total_steps, steps_per_epoch)


def curve(
    recipe: TrainingRecipe, total_steps: int, steps_per_epoch: int, points: int = 400
) -> tuple[Array, Array]:
    """The schedule for drawing.

    Returns:
        Steps, at most `points` of them from 0 to the last one, and their rates; both sides of
        each corner (the end of the warm-up, every fall of "step") are among them.
    """
    last = max(total_steps - 1, 0)
    steps = np.linspace(0, last, min(points, last + 1)).round()
    corners = _corners(recipe, total_steps, steps_per_epoch)[: points // 2]
    steps = np.sort(np.concatenate([steps, corners, corners - 1]))
    # np.unique would load numpy.ma, at the first sight of the train view.
    is_new = np.concatenate([[True], steps[1:] != steps[:-1]])
    steps = steps[is_new & (steps >= 0) & (steps <= last)]
    return steps, _rates(recipe, steps, total_steps, steps_per_epoch)


def _rates(
    recipe: TrainingRecipe, steps: np.ndarray[Any, Any], total_steps: int, steps_per_epoch: int
) -> Array:
    steps = steps.astype(np.float64)
    warm_up = warm_up_steps(recipe, total_steps, steps_per_epoch)
    climbed = (steps + 1) / (warm_up + 1)
    if recipe.schedule == "one_cycle":
        climbed = _CYCLE_START + (1 - _CYCLE_START) * steps / max(1, warm_up)
    shares = _SHAPES[recipe.schedule](recipe, steps, warm_up, total_steps, steps_per_epoch)
    return recipe.peak_rate * np.where(steps < warm_up, climbed, shares)


def _constant(_recipe: TrainingRecipe, steps: Array, *_sizes: int) -> Array:
    return np.ones_like(steps)


def _in_steps(
    recipe: TrainingRecipe, steps: Array, _warm_up: int, _total: int, steps_per_epoch: int
) -> Array:
    return np.asarray(recipe.decay_factor ** np.floor(_falls(recipe, steps, steps_per_epoch)))


def _exponential(
    recipe: TrainingRecipe, steps: Array, warm_up: int, _total: int, steps_per_epoch: int
) -> Array:
    after = np.maximum(steps - warm_up, 0)
    return np.asarray(recipe.decay_factor ** _falls(recipe, after, steps_per_epoch))


def _falls(recipe: TrainingRecipe, steps: Array, steps_per_epoch: int) -> Array:
    # Multiplied before divided: whole epochs come out as whole numbers.
    return steps / (recipe.decay_every_epochs * max(1, steps_per_epoch))


def _cosine(recipe: TrainingRecipe, steps: Array, warm_up: int, total: int, _epoch: int) -> Array:
    height = 0.5 * (1 + np.cos(np.pi * _done(steps, warm_up, total)))
    return recipe.final_share + (1 - recipe.final_share) * height


def _one_cycle(
    recipe: TrainingRecipe, steps: Array, warm_up: int, total: int, _epoch: int
) -> Array:
    return 1 - (1 - recipe.final_share) * _done(steps, warm_up, total)


def _done(steps: Array, warm_up: int, total: int) -> Array:
    """Share of the way after the warm-up, 0 to 1."""
    return np.clip((steps - warm_up) / max(1, total - warm_up), 0.0, 1.0)


def _corners(recipe: TrainingRecipe, total_steps: int, steps_per_epoch: int) -> Array:
    warm_up = warm_up_steps(recipe, total_steps, steps_per_epoch)
    corners = [warm_up + 1.0, float(warm_up)] if warm_up else []
    if recipe.schedule == "step":
        every = recipe.decay_every_epochs * max(1, steps_per_epoch)
        if total_steps / every <= 1_000:
            corners += np.ceil(np.arange(every, total_steps, every)).tolist()
    return np.array(corners)


_SHAPES: Mapping[str, Callable[..., Array]] = {
    "constant": _constant,
    "plateau": _constant,
    "step": _in_steps,
    "exponential": _exponential,
    "cosine": _cosine,
    "one_cycle": _one_cycle,
}
