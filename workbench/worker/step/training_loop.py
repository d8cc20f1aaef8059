"""The training loop: several steps in one call into TensorFlow, each batch's values kept.

Everything goes through `tf.distribute`: variables are made in the strategy's scope, steps
run by `strategy.run`, and losses are scaled by the batch over all replicas, so a target
with eight replicas runs the same code as this computer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.inference.runner import Answers, ImageResults, joined_results, results_of, room_for
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.events import TimeSpent
from workbench.worker.input.pipeline import WHOLE, Shard, evaluation_pipeline, iterate, next_batch
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


# evaluator -----------------------------------------------------------------------------------
# Scores of a model on all images of one part, none counted twice, none left out.

Judge = Callable[[Values, Values, Values], Answers]

_CALL_S = 0.25


class Evaluator:
    """Evaluates one part again and again; the images are handed to TensorFlow once.

    The loop runs the batches, which for small parts are smaller than its own, behind the layers
    of the pipeline.
    """

    def __init__(self, loop: TrainingLoop, part: PreparedPart, layers: Sequence[Any]) -> None:
        size = min(loop.step.batch_size, len(part))
        size = -(-size // loop.step.replicas) * loop.step.replicas
        self._loop = loop
        self._top_k = loop.step.recipe.top_k
        self._labels = part.y
        self._size = size
        self._num_steps = -(-len(part) // size)
        self._steps = 1
        self._dataset = evaluation_pipeline(part, layers, batch_size=size, share=loop.share)

    def scores(
        self, on_progress: Callable[[float], None], barrier: Callable[[int], int]
    ) -> Scores | None:
        """Means over all images; None when stopped on the way.

        `on_progress` is called with the fraction done, 0..1; `barrier` makes of the steps of the
        next call as many as it shall have, 0 to stop.
        """
        iterator = self._loop.distribute(self._dataset)
        sums: list[Any] | None = None
        done = 0
        while done < self._num_steps:
            # The length of a call is remembered: the next evaluation starts with it.
            steps = barrier(min(self._steps, self._num_steps - done))
            if not steps:
                return None
            started = time.monotonic()
            sums = self._loop.evaluate(iterator, steps, sums)
            done += steps
            on_progress(done / self._num_steps)
            seconds = max(time.monotonic() - started, 1e-6)
            self._steps = max(1, min(2 * self._steps, int(steps * _CALL_S / seconds)))
        return self._scores_of([value.numpy() for value in sums or ()])

    def answers(
        self, judge: Judge, hidden: str | None, on_progress: Callable[[float], None]
    ) -> tuple[ImageResults, Values]:
        """What the model answers for each image, and its loss as `scores` adds it up, float32 (n,).
        One machine has to compute all of it.

        Args:
            judge: Makes answers of uncalibrated probabilities (n, classes), outputs of the node
                `hidden` (n, d) and losses (n,).
            hidden: None for none.
            on_progress: As for `scores`.
        """
        iterator = self._loop.distribute(self._dataset)
        answering = self._loop.answering(hidden)
        pieces, losses, rows = [], [], None
        for step in range(self._num_steps):
            on_progress(step / self._num_steps)
            labels = self._labels[step * self._size : (step + 1) * self._size]
            # The filling of the last batch is cut off.
            raw, inner, entropy, own = (each[: len(labels)] for each in answering(iterator))
            found, start = judge(raw, inner, entropy), step * self._size
            rows = room_for(len(self._labels), raw.shape[1]) if rows is None else rows
            rows[start : start + len(labels)] = found.probabilities
            pieces.append(results_of(found, labels))
            losses.append(own)
        return joined_results(pieces, rows), np.concatenate(losses)

    def _scores_of(self, sums: Sequence[Any]) -> Scores:
        loss, correct, count, in_top_k = (float(value) for value in sums[:4])
        confusion = None
        if len(sums) > 4:
            classes = round(len(sums[4]) ** 0.5)
            confusion = sums[4].astype(np.uint32).reshape(classes, classes)
        return Scores(
            loss / count,
            correct / count,
            round(count),
            top_k_accuracy=None if self._top_k == 1 else in_top_k / count,
            confusion=confusion,
        )


# time spent ----------------------------------------------------------------------------------
# Accounting of where the seconds of a training go, and what would save the most of them.

_INTERVAL_S = 1.0

_SMALLEST_SHARE = 0.15
"""Fraction of the training time below which advice is not worth giving."""

_SETTLED_S = 5.0
"""Seconds of steps before any advice: the first ones are not representative."""

ACTIVITIES = ("input", "compute", "host", "features", "compile", "validation", "saving")
"""What an epoch consists of, and what is before it."""


class TimeLedger:
    """Books every second of the training thread under one activity.

    What is booked nowhere else is "host": Python between the calls.

    Attributes:
        place: Where the images are: "memory", "cached" or "streamed"; None until it is known.
        is_augmenting: Random layers run in the input pipeline.
        is_call_pinned: The recipe or the target sets the steps of a call.
        has_split: Validation images are split off, of an epoch whose steps are set.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.place: str | None = None
        self.is_augmenting = False
        self.is_call_pinned = False
        self.has_split = False
        self._clock = clock
        self._begun = clock()
        self._reported_at = self._begun
        self._seconds = dict.fromkeys(ACTIVITIES, 0.0)
        self._inner = 0.0
        self._after_since: float | None = None

    def begin_after(self) -> None:
        """The last step is done: from now on all of the time is "after", and what has been booked
        stays as it is.
        """
        self._after_since = self._clock()

    @contextmanager
    def spending(self, activity: str) -> Iterator[None]:
        """Books the time within it under "compile", "validation" or "saving"; what is booked
        inside, also by `add_call`, is not booked twice.
        """
        began, outer, self._inner = self._clock(), self._inner, 0.0
        try:
            yield
        finally:
            elapsed = self._clock() - began
            if self._after_since is None:
                self._seconds[activity] += elapsed - self._inner
            self._inner = outer + elapsed

    def add_call(self, results: StepResults, *, is_first: bool = False) -> None:
        """Books one call of the loop; the first one mostly compiles."""
        if self._after_since is not None:
            return
        rest = results.seconds - results.input_s
        self._seconds["input"] += results.input_s
        self._seconds["compile" if is_first else "compute"] += rest
        self._inner += results.seconds

    def move(self, seconds: float, source: str, target: str) -> None:
        """Books seconds that were booked under one activity under another."""
        self._seconds[source] -= seconds
        self._seconds[target] += seconds

    def due(self) -> TimeSpent | None:
        """The seconds spent so far; None within a second of the last report."""
        now = self._clock()
        if now - self._reported_at < _INTERVAL_S:
            return None
        return self.snapshot()

    def snapshot(self) -> TimeSpent:
        """All that was spent up to now, and what to do about it."""
        self._reported_at = self._clock()
        seconds = dict(self._seconds)
        end = self._reported_at if self._after_since is None else self._after_since
        seconds["host"] = max(0.0, end - self._begun - sum(seconds.values()))
        advice = time_advice(
            seconds,
            place=self.place,
            is_augmenting=self.is_augmenting,
            is_call_pinned=self.is_call_pinned,
            has_split=self.has_split,
        )
        rounded: dict[str, Any] = {f"{activity}_s": round(s, 3) for activity, s in seconds.items()}
        return TimeSpent(advice=advice, after_s=round(self._reported_at - end, 3), **rounded)


def time_advice(
    seconds: dict[str, float],
    *,
    place: str | None = None,
    is_augmenting: bool = False,
    is_call_pinned: bool = False,
    has_split: bool = False,
) -> str:
    """The next action in words, from the seconds by activity; "" when there is nothing to gain.

    Only what makes an epoch shorter: tests/worker/step/test_time_advice.py follows each.
    """
    if seconds["input"] + seconds["compute"] < _SETTLED_S:
        return ""
    total = sum(seconds[name] for name in ACTIVITIES)  # as the shares beside the advice
    remedies = {
        "input": ("input wait", _input_remedy(place, is_augmenting=is_augmenting)),
        "host": (
            "host overhead",
            "set the steps per execution to automatic" if is_call_pinned else "use a larger batch",
        ),
        "validation": ("validation", "use a smaller validation split" if has_split else ""),
    }
    worst = max(remedies, key=lambda name: seconds[name])
    what, remedy = remedies[worst]
    share = seconds[worst] / total
    if share < _SMALLEST_SHARE or not remedy:
        return ""
    return f"{100 * share:.0f}% of the time is {what}: {remedy}."


def _input_remedy(place: str | None, *, is_augmenting: bool) -> str:
    remedies = []
    if place == "streamed":
        remedies.append("cache decoded images on disk or in memory")
    elif place == "cached":
        remedies.append("cache the images in memory, if they fit")
    if is_augmenting:
        remedies.append("use less augmentation")
    return ", or ".join(remedies)
