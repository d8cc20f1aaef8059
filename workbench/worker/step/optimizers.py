"""The optimizer of a recipe."""

from __future__ import annotations

from typing import Any

from workbench.core.training.optimizers import NOT_DECAYED
from workbench.core.training.recipe import TrainingRecipe
from workbench.worker.process.lazy_keras import keras


def make_optimizer(recipe: TrainingRecipe) -> Any:
    """The recipe's optimizer; call within the strategy's scope, then build it.

    Its learning rate is a function, not a variable: each step is given its own (see
    `StepMath.train`), and without one it is the recipe's.
    """
    rate = recipe.peak_rate
    kind = recipe.optimizer_spec.keras_class(keras)
    optimizer = kind(learning_rate=lambda: rate, **recipe.optimizer_arguments())
    if not recipe.decay_biases:
        optimizer.exclude_from_weight_decay(var_names=list(NOT_DECAYED))
    return optimizer
