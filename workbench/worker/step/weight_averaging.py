"""The moving average of the weights: kept by the optimizer, put in place to be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Averaging:
    """Swaps a model's weights with their averages, and back.

    Keras's optimizer keeps the averages (`use_ema`), so they are among its variables, and a
    checkpoint of those has them. Statistics of normalizations are no weights and stay.

    Args:
        strategy: The `tf.distribute` strategy in whose scope model and optimizer were made.
        model: The Keras model.
        optimizer: Built for its trainable variables.
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
