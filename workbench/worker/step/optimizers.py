"""The optimizer of a recipe: one of Keras's, or LARS."""

from __future__ import annotations

from typing import Any

from workbench.core.training.recipe import OPTIMIZERS, TrainingRecipe
from workbench.worker.step.lars import lars

NOT_DECAYED = ("bias", "gamma", "beta", "alpha")
"""Names of the variables that `decay_biases` leaves alone: biases, what normalizations scale
and shift with, and the slopes of PReLU."""

_OWN = {"LARS": lars}


def make_optimizer(keras: Any, recipe: TrainingRecipe) -> Any:
    """The recipe's optimizer; call within the strategy's scope, then build it.

    Its learning rate is a function, not a variable: each step is given its own (see
    `StepMath.train`), and without one it is the recipe's.
    """
    rate = recipe.peak_rate
    name = OPTIMIZERS[recipe.optimizer]
    kind = _OWN[name](keras) if name in _OWN else getattr(keras.optimizers, name)
    optimizer = kind(learning_rate=lambda: rate, **recipe.optimizer_arguments())
    if not recipe.decay_biases:
        optimizer.exclude_from_weight_decay(var_names=list(NOT_DECAYED))
    return optimizer
