"""Optimizers and learning-rate schedules of a recipe, made of Keras's."""

from __future__ import annotations

import math
from typing import Any

from workbench.core.recipe import OPTIMIZERS, TrainingRecipe

_WARM_UP_SHARE = 0.03
_FINAL_SHARE = 0.01


def warm_up_steps(total_steps: int) -> int:
    """Steps in which a cosine schedule climbs to its peak: 3 % of all."""
    return int(total_steps * _WARM_UP_SHARE)


def learning_rate_at(recipe: TrainingRecipe, step: int, total_steps: int) -> float:
    """The learning rate of a step, counted from 0."""
    if recipe.schedule == "constant":
        return recipe.learning_rate
    warm_up = warm_up_steps(total_steps)
    if step < warm_up:
        return recipe.learning_rate * (step + 1) / (warm_up + 1)
    done = min(1.0, (step - warm_up) / max(1, total_steps - warm_up))
    height = 0.5 * (1 + math.cos(math.pi * done))
    return recipe.learning_rate * (_FINAL_SHARE + (1 - _FINAL_SHARE) * height)


def make_schedule(keras: Any, recipe: TrainingRecipe, total_steps: int) -> Any:
    """A number, or a Keras schedule with the values of `learning_rate_at`."""
    if recipe.schedule == "constant":
        return recipe.learning_rate
    ops = keras.ops
    peak, warm_up = recipe.learning_rate, warm_up_steps(total_steps)

    class WarmUpCosine(keras.optimizers.schedules.LearningRateSchedule):  # type: ignore[misc]
        """Climbs for 3 % of the steps, then falls along a cosine to a hundredth."""

        def __call__(self, step: Any) -> Any:
            step = ops.cast(step, "float32")
            climbing = peak * (step + 1) / (warm_up + 1)
            done = ops.minimum(1.0, (step - warm_up) / max(1, total_steps - warm_up))
            height = 0.5 * (1 + ops.cos(math.pi * done))
            falling = peak * (_FINAL_SHARE + (1 - _FINAL_SHARE) * height)
            return ops.where(step < warm_up, climbing, falling)

        def get_config(self) -> dict[str, Any]:
            return {}

    return WarmUpCosine()


def make_optimizer(keras: Any, recipe: TrainingRecipe, total_steps: int) -> Any:
    """The recipe's Keras optimizer; call within the strategy's scope."""
    optimizer = getattr(keras.optimizers, OPTIMIZERS[recipe.optimizer])
    return optimizer(
        learning_rate=make_schedule(keras, recipe, total_steps), **recipe.optimizer_arguments()
    )
