"""The training loop: several steps in one call into TensorFlow, each batch's values kept.

Everything goes through `tf.distribute`: variables are made in the strategy's scope, steps
run by `strategy.run`, and losses are scaled by the batch over all replicas, so a target
with eight replicas runs the same code as this computer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.worker.input.sharding import WHOLE, Shard, iterate, next_batch
from workbench.worker.process.lazy_keras import tf
from workbench.worker.step.train_step import StepMath

CALL_S = 0.12
"""Aimed length of one call where the target says nothing else: eight events a second, and a
stop takes effect at once.
"""

MAX_STEPS = 1_000
"""Most steps of one call into TensorFlow."""

_GROWTH = 4


Values = np.ndarray[Any, np.dtype[Any]]
Rates = Sequence[float] | np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class StepResults:
    """Each batch's own values, float32 (steps,), how long the call took, and how much of that
    was waiting for images.
    """

    losses: np.ndarray[Any, np.dtype[np.float32]]
    accuracies: np.ndarray[Any, np.dtype[np.float32]]
    seconds: float
    input_s: float = 0.0


@dataclass(frozen=True)
class Scores:
    """Means over a set of images.

    Attributes:
        top_k_accuracy: None where the recipe's `top_k` is 1.
        confusion: How often class i was taken for class j, uint32 (classes, classes); None
            where there are too many classes.
    """

    loss: float
    accuracy: float
    count: int
    top_k_accuracy: float | None = None
    confusion: np.ndarray[Any, np.dtype[np.uint32]] | None = None


class CallLength:
    """How many steps one call should take, from how long the last ones took.

    Args:
        start: Steps of the first calls, from a measured plan; 1 where nothing was measured.
        pinned: Steps of every call, as the recipe or the target says; None to learn.
        call_s: Aimed seconds of a call.
    """

    def __init__(
        self, start: int | None = None, *, pinned: int | None = None, call_s: float = CALL_S
    ) -> None:
        self._call_s = call_s
        self._is_pinned = pinned is not None
        self.steps = pinned or start or 1
        self._step_s: float | None = None

    def learn(self, results: StepResults) -> None:
        """Adapts to one call. Grows by at most four times, shrinks at once."""
        if self._is_pinned:
            return
        step_s = results.seconds / len(results.losses)
        self._step_s = step_s if self._step_s is None else 0.5 * (self._step_s + step_s)
        self.steps = min(steps_per_call(self._step_s, self._call_s), self.steps * _GROWTH)


def _padded(rates: Rates) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The rates at a fixed length: the same traced function serves calls of any length."""
    padded = np.zeros(max(MAX_STEPS, len(rates)), np.float32)
    padded[: len(rates)] = rates
    return padded


def steps_per_call(step_s: float, call_s: float = CALL_S) -> int:
    """Steps that fill the aimed length of a call: from 1 to 1,000."""
    return max(1, min(int(call_s / max(step_s, 1e-6)), MAX_STEPS))


class TrainingLoop:
    """Runs steps of one model under a strategy.

    Args:
        step: What one step computes.
        xla: Let XLA compile the step. Only for one replica: under a strategy of several, TPUs
            compile by themselves, and on processors collectives do not go through XLA.
        share: Which part of each batch this machine computes, where several train together.
    """

    def __init__(self, step: StepMath, *, xla: bool = False, share: Shard = WHOLE) -> None:
        self.share = share
        self.step = step
        self._strategy = step.strategy
        # AutoGraph reads source files, which a packed application has not.
        train = tf.function(step.train, jit_compile=True, autograph=False) if xla else step.train
        self._train_step = train
        self._run_steps = tf.function(self._steps, autograph=False, reduce_retracing=True)
        self._run_evaluation = tf.function(self._evaluation_steps, autograph=False)

    def distribute(self, dataset: Any) -> Any:
        """An iterator over a dataset's batches, for `train` and `evaluate`."""
        return iterate(self._strategy, dataset, self.share)

    # training --------------------------------------------------------------------------

    def train(self, iterator: Any, steps: int, *, rates: Rates | None = None) -> StepResults:
        """Trains a number of steps in one call, on an iterator made by `distribute`.

        The learning rates are float32 (steps,), one for each; None for the optimizer's own.
        """
        started = time.monotonic()
        given = () if rates is None else (tf.constant(_padded(rates)),)
        results = self._run_steps(iterator, tf.constant(steps, tf.int32), *given)
        losses, correct, input_s = (values.numpy() for values in results)
        seconds = time.monotonic() - started
        accuracies = correct / np.float32(self.step.batch_size)
        return StepResults(losses, accuracies, seconds, min(float(input_s), seconds))

    def _steps(self, iterator: Any, steps: Any, rates: Any = None) -> tuple[Any, Any, Any]:
        def body(step: Any, input_s: Any, losses: Any, correct: Any) -> tuple[Any, ...]:
            batch, waited_s = self._timed_next(iterator)
            rate = () if rates is None else (rates[step],)
            loss, hits = self._over_replicas(self._train_step, (*batch, *rate))
            return step + 1, input_s + waited_s, losses.write(step, loss), correct.write(step, hits)

        empty = [tf.TensorArray(tf.float32, size=steps, element_shape=()) for _ in range(2)]
        _, input_s, losses, correct = tf.while_loop(
            lambda step, *_: step < steps,
            body,
            [tf.constant(0), tf.constant(0.0, tf.float64), *empty],
            parallel_iterations=1,
        )
        return losses.stack(), correct.stack(), input_s

    def _timed_next(self, iterator: Any) -> tuple[Any, Any]:
        """The next batch, and the seconds that it was waited for."""
        begun = tf.timestamp()
        with tf.control_dependencies([begun]):
            batch = self._next(iterator)
        with tf.control_dependencies(self._strategy.experimental_local_results(batch[1])):
            waited_s = tf.timestamp() - begun
        if self.step.replicas > 1:
            batch = tf.nest.map_structure(
                lambda part: self._after(waited_s, part), batch, expand_composites=True
            )
        return batch, waited_s

    def _next(self, iterator: Any) -> Any:
        return next_batch(self._strategy, iterator, self.share)

    def _after(self, moment: Any, part: Any) -> Any:
        """A replica's part of a batch, not to be computed with before all parts are there.

        The first replica would begin at once and take the processor from what brings the
        others theirs; that time would count as waiting for images.
        """
        with tf.device(part.device), tf.control_dependencies([moment]):
            return tf.identity(part)

    def _over_replicas(self, function: Any, batch: Any) -> tuple[Any, ...]:
        """Runs a function on each replica's part of a batch and adds the results."""
        results = self._strategy.run(function, args=batch)
        reduce_sum = tf.distribute.ReduceOp.SUM
        return tuple(self._strategy.reduce(reduce_sum, value, axis=None) for value in results)

    # evaluation ------------------------------------------------------------------------

    def evaluate(self, iterator: Any, steps: int, sums: Sequence[Any] | None = None) -> list[Any]:
        """Adds up over a number of batches what `StepMath.evaluate` counts.

        Goes on from `sums`, which an earlier call returned; None to start. The result is the
        same to the bit however the batches are divided into calls.
        """
        start = self.step.evaluation_zeros() if sums is None else sums
        return list(self._run_evaluation(iterator, tf.constant(steps, tf.int32), *start))

    def _evaluation_steps(self, iterator: Any, steps: Any, *start: Any) -> tuple[Any, ...]:
        def body(step: Any, *sums: Any) -> tuple[Any, ...]:
            values = self._over_replicas(self.step.evaluate, self._next(iterator))
            # Many small losses: float64 keeps the mean exact.
            return step + 1, *(s + tf.cast(v, s.dtype) for s, v in zip(sums, values, strict=True))

        result = tf.while_loop(
            lambda step, *_: step < steps, body, [tf.constant(0), *start], parallel_iterations=1
        )
        return tuple(result[1:])

    def answering(self, hidden: str | None) -> Callable[[Any], list[Values]]:
        """A function of an iterator: what `StepMath.answering` gives for the images of the next
        batch, in their order.
        """
        answer = self.step.answering(hidden)

        def answers(iterator: Any) -> list[Any]:
            columns = self._strategy.run(answer, args=self._next(iterator))
            local = self._strategy.experimental_local_results
            return [tf.concat(local(column), axis=0) for column in columns]

        compiled = tf.function(answers, autograph=False)
        return lambda iterator: [values.numpy() for values in compiled(iterator)]
