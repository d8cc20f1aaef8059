"""The optimizer of a recipe, and the moving average of the weights that it may keep."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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


class Averaging:
    """Swaps a model's weights with their averages, and back.

    Keras's optimizer keeps the averages (`use_ema`), so they are among its variables, and a
    checkpoint of those has them. Statistics of normalizations are no weights and stay. Model
    and optimizer, built for its trainable variables, were made in the strategy's scope.
    """

    def __init__(self, strategy: Any, model: Any, optimizer: Any) -> None:
        self._strategy = strategy
        self._optimizer = optimizer
        self._pairs: list[tuple[Any, Any]] = []
        if optimizer.use_ema:
            averages = optimizer._model_variables_moving_average  # noqa: SLF001 - no public way
            variables = model.trainable_variables
            self._pairs = [
                pair for pair in zip(variables, averages, strict=True) if pair[1] is not None
            ]

    @property
    def is_on(self) -> bool:
        """Whether averages are kept at all."""
        return bool(self._pairs)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within it the model has the averages for its weights; the weights come back exactly.

        Does nothing where no averages are kept, or before the first step made any.
        """
        if not self._pairs or int(self._optimizer.iterations.numpy()) == 0:
            yield
            return
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        with self._strategy.scope():
            for variable, average in self._pairs:
                kept = variable.numpy()
                variable.assign(average.numpy())
                average.assign(kept)
