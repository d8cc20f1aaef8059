"""The training loop: several steps in one call into TensorFlow, each batch's values kept.

Everything goes through `tf.distribute`: variables are made in the strategy's scope, steps
run by `strategy.run`, and losses are scaled by the batch over all replicas, so a target
with eight replicas runs the same code as this computer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.worker.build import BuiltModel
from workbench.worker.step_math import StepMath

_CALL_S = 0.12
"""Aimed length of one call: eight events a second, and a stop is heard at once."""

_MAX_STEPS = 1_000
_GROWTH = 4


@dataclass(frozen=True)
class StepResults:
    """Each batch's own values, float32 (steps,), and how long the call took."""

    losses: np.ndarray[Any, np.dtype[np.float32]]
    accuracies: np.ndarray[Any, np.dtype[np.float32]]
    seconds: float


@dataclass(frozen=True)
class Scores:
    """Means over a set of pictures."""

    loss: float
    accuracy: float
    count: int


class CallLength:
    """How many steps one call should take, from how long the last ones took."""

    def __init__(self) -> None:
        self.steps = 1
        self._step_s: float | None = None

    def learn(self, results: StepResults) -> None:
        """Takes in one call. Grows by at most four times, shrinks at once."""
        step_s = results.seconds / len(results.losses)
        self._step_s = step_s if self._step_s is None else 0.5 * (self._step_s + step_s)
        wanted = int(_CALL_S / max(self._step_s, 1e-6))
        self.steps = max(1, min(wanted, self.steps * _GROWTH, _MAX_STEPS))


class TrainingLoop:
    """Runs steps of one model under a strategy.

    Args:
        tf: TensorFlow.
        keras: Keras on it.
        strategy: Of `tf.distribute`; `built` and `optimizer` were made in its scope.
        built: The model; its pipeline layers run elsewhere.
        optimizer: Built for the model's variables.
        batch_size: Pictures a step, over all replicas together.
    """

    def __init__(
        self,
        tf: Any,
        keras: Any,
        strategy: Any,
        built: BuiltModel,
        optimizer: Any,
        *,
        batch_size: int,
    ) -> None:
        self._tf = tf
        self._strategy = strategy
        self._batch_size = batch_size
        self._step = StepMath(tf, keras, strategy, built, optimizer, batch_size=batch_size)
        # AutoGraph reads source files, which a packed application has not.
        self._run_steps = tf.function(self._steps, autograph=False, reduce_retracing=True)
        self._run_evaluation = tf.function(self._evaluation_steps, autograph=False)

    def distribute(self, dataset: Any) -> Any:
        """An iterator over a dataset's batches, each split over the replicas."""
        return iter(self._strategy.experimental_distribute_dataset(dataset))

    # training --------------------------------------------------------------------------

    def train(self, iterator: Any, steps: int) -> StepResults:
        """Trains a number of steps in one call."""
        started = time.monotonic()
        losses, correct = self._run_steps(iterator, self._tf.constant(steps, self._tf.int32))
        losses, correct = losses.numpy(), correct.numpy()
        seconds = time.monotonic() - started
        return StepResults(losses, correct / np.float32(self._batch_size), seconds)

    def _steps(self, iterator: Any, steps: Any) -> tuple[Any, Any]:
        tf = self._tf

        def body(step: Any, losses: Any, correct: Any) -> tuple[Any, Any, Any]:
            loss, hits = self._over_replicas(self._step.train, iterator)
            return step + 1, losses.write(step, loss), correct.write(step, hits)

        empty = [tf.TensorArray(tf.float32, size=steps, element_shape=()) for _ in range(2)]
        _, losses, correct = tf.while_loop(
            lambda step, *_: step < steps, body, [tf.constant(0), *empty], parallel_iterations=1
        )
        return losses.stack(), correct.stack()

    def _over_replicas(self, function: Any, iterator: Any) -> tuple[Any, ...]:
        """Runs a function on each replica's part of the next batch and adds the results."""
        results = self._strategy.run(function, args=iterator.get_next())
        reduce_sum = self._tf.distribute.ReduceOp.SUM
        return tuple(self._strategy.reduce(reduce_sum, value, axis=None) for value in results)

    # evaluation ------------------------------------------------------------------------

    def evaluate(self, iterator: Any, steps: int) -> tuple[float, float, float]:
        """Sums over a number of batches: weighted losses, correct pictures, pictures."""
        sums = self._run_evaluation(iterator, self._tf.constant(steps, self._tf.int32))
        loss, correct, count = (float(value) for value in sums)
        return loss, correct, count

    def _evaluation_steps(self, iterator: Any, steps: Any) -> tuple[Any, ...]:
        tf = self._tf

        def body(step: Any, *sums: Any) -> tuple[Any, ...]:
            values = self._over_replicas(self._step.evaluate, iterator)
            # Many small losses: float64 keeps the mean exact.
            return step + 1, *(
                s + tf.cast(v, tf.float64) for s, v in zip(sums, values, strict=True)
            )

        zeros = [tf.constant(0.0, tf.float64)] * 3
        result = tf.while_loop(
            lambda step, *_: step < steps, body, [tf.constant(0), *zeros], parallel_iterations=1
        )
        return tuple(result[1:])
