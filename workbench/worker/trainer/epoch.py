"""One epoch: its steps in calls of fitting length, each batch logged, then the validation."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from workbench.core.training.learning_rates import learning_rate_at, learning_rates
from workbench.core.training.progress_rules import ProgressRules
from workbench.errors import WeightsError
from workbench.protocol.events import EpochFinished
from workbench.runs.store.checkpoint import read_checkpoint
from workbench.worker.checkpoints.training_state import (
    PreparedTraining,
    TrainingCounters,
    TrainingJob,
    restore,
    restore_at,
    snapshot,
)
from workbench.worker.execution.compiled import Compiled
from workbench.worker.input.pipeline import WHOLE
from workbench.worker.model.build import BuiltModel
from workbench.worker.process.failure import DivergedError
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.process.run_channel import finite
from workbench.worker.step.layer_figures import LayerWatch
from workbench.worker.step.training_loop import CallLength, Evaluator, Scores, StepResults

# nonfinite -----------------------------------------------------------------------------------
# Finds the first layer whose output stopped being finite, after a training has diverged.
#
# When a loss is not a number, the weights that made it so are gone already: that step's update
# has spoilt all of them. But each batch is a function of (seed, step), so the steps since the
# last checkpoint can be trained once more, up to the step before; then the batch is sent
# through the network layer by layer. Normal training pays nothing for it.

_CALL_STEPS = 16
_LIMIT_S = 120.0
"""Checkpoints are at most a minute apart; a longer search is not worth the wait."""

_MAX_FIRST_BYTES = 128 * 2**20
"""Larger first states are not kept: without a checkpoint nothing is found then."""

Rates = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Culprit:
    """Cause of values that are not finite: the layer's name in Keras, "" for the images themselves
    or for the loss; and what was found, as the second half of a sentence.
    """

    layer: str
    words: str


class Replay:
    """Trains a run again, from its last checkpoint or its start.

    Args:
        job: Its run has the checkpoints to begin with; its stop switch is looked at.
        compiled: What is trained, in the state it begins with.
        step: Steps done before.
        rates: (first step from 0, count) -> the learning rates as they were trained with.
    """

    def __init__(
        self, job: TrainingJob, compiled: Compiled, step: int, rates: Callable[[int, int], Rates]
    ) -> None:
        self._job = job
        self._compiled = compiled
        self._first_step = step
        self._rates = rates
        # A run that goes on has a checkpoint already.
        first = {} if step != compiled.first_step else snapshot(compiled.state_variables())
        is_small = sum(array.nbytes for array in first.values()) <= _MAX_FIRST_BYTES
        self._first = first if is_small else {}

    def find(self, bad_step: int) -> Culprit | None:
        """Trains up to a step, counted from 1, whose loss is not finite and looks at its batch.

        The network is of no use afterwards. None when there is nothing to begin with, it was
        stopped, took too long, or did not happen again.
        """
        begun = self._restore(bad_step)
        if begun is None:
            return None
        iterator = self._compiled.restart(begun)
        if not self._train(iterator, begun, bad_step - 1):
            return None
        if self._compiled.features is not None:  # the frozen layers' outputs are finite
            return culprit_of_weights(self._compiled.built)
        pictures = next(iterator)[0]
        first = pictures.values[0] if hasattr(pictures, "values") else pictures  # a replica's part
        return culprit_of_batch(self._compiled.built, first)

    def _restore(self, bad_step: int) -> int | None:
        """Puts the latest state before a step back; returns the steps done in it."""
        try:
            checkpoint = read_checkpoint(self._job.run)
        except WeightsError:
            checkpoint = None
        compiled = self._compiled
        if checkpoint is not None and compiled.first_step <= checkpoint.state.step < bad_step:
            state = checkpoint.state
            restore_at(compiled, state.step, checkpoint.arrays, state.given)
            return state.step
        if not self._first:
            return None
        restore(compiled.state_variables(), self._first)
        return self._first_step

    def _train(self, iterator: Any, done: int, until: int) -> bool:
        """Trains the steps between; False when it is of no use to go on."""
        deadline = time.monotonic() + _LIMIT_S
        while done < until:
            if self._job.stop.is_on or time.monotonic() > deadline:
                return False
            steps = min(_CALL_STEPS, until - done)
            results = self._compiled.loop.train(iterator, steps, rates=self._rates(done, steps))
            if not np.isfinite(results.losses).all():
                return False  # another step than before: this machine does not repeat itself
            done += steps
        return True


def culprit_of_batch(built: BuiltModel, pictures: Any) -> Culprit:
    """Finds the layer at which a batch's values stop being finite with the present weights."""
    if not _is_finite(pictures):
        return Culprit("", "the images from the input pipeline are not finite")
    weights = culprit_of_weights(built)
    if weights is not None:
        return weights
    model = built.model
    probe = keras.Model(model.inputs, [layer.output for layer in model.layers])
    outputs = probe(tf.cast(pictures, tf.float32), training=True)
    outputs = outputs if isinstance(outputs, list | tuple) else [outputs]
    for layer, output in zip(model.layers, outputs, strict=True):
        if not _is_finite(output):
            return _layer_at_fault(layer, "whose output is")
    sizes = [float(tf.reduce_max(tf.abs(tf.cast(each, tf.float32)))) for each in outputs]
    largest = int(np.argmax(sizes))
    name = model.layers[largest].name
    return Culprit(
        name,
        "the outputs of all layers are still finite, the loss itself is not; the "
        f"largest values, {sizes[largest]:.1e}, are the outputs of “{name}”",
    )


def culprit_of_weights(built: BuiltModel) -> Culprit | None:
    """The first layer with a weight that is not finite; None where all are."""
    for layer in built.model.layers:
        for variable in layer.variables:
            values = variable.numpy()
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                return _layer_at_fault(layer, "with weights that are")
    return None


def _layer_at_fault(layer: Any, what: str) -> Culprit:
    words = f"the first layer {what} not finite is “{layer.name}” ({type(layer).__name__})"
    return Culprit(layer.name, words)


def _is_finite(values: Any) -> bool:
    if not values.dtype.is_floating:
        return True
    return bool(tf.reduce_all(tf.math.is_finite(tf.cast(values, tf.float32))))


# epoch ---------------------------------------------------------------------------------------


class EpochTrainer:
    """Trains epochs from wherever a training is, also from the middle of one.

    Args:
        job: What is trained, and its event log; its stop switch is checked between calls.
        ready: The network and its pipelines; every second is booked in its ledger.
        counters: Steps, epochs and scores so far; advanced here.
        rules: Their factor upon the learning rates holds.
    """

    def __init__(
        self,
        job: TrainingJob,
        ready: PreparedTraining,
        counters: TrainingCounters,
        rules: ProgressRules,
    ) -> None:
        compiled, recipe = ready.compiled, job.project.recipe
        self._compiled = compiled
        self._sizes = ready.sizes
        self._recipe = recipe
        self._position = counters
        self._rules = rules
        self._events = job.events
        self._stop = job.stop
        self._ledger = ready.ledger
        limits = compiled.limits
        self._call = CallLength(
            compiled.plan.steps_per_call,
            pinned=recipe.steps_per_call or limits.call_steps,
            call_s=limits.call_s,
        )
        self._is_compiled = False
        features = compiled.features
        pipeline = [layer for _, layer in compiled.built.pipeline] if features is None else []
        part = ready.images.train if features is None else features.train
        self._watch = LayerWatch(compiled.loop, part, pipeline)
        self._scales: list[tuple[int, float]] = []
        self._replay = Replay(job, compiled, counters.step, self._rates)

    def train(self, after_call: Callable[[], None]) -> tuple[EpochFinished, Scores | None] | None:
        """Trains what is left of the current epoch, validates and logs it.

        Between calls, with the counters moved on, `after_call` is called.

        Returns:
            The logged event, and the scores; None when it was stopped within.

        Raises:
            DivergedError: a loss is not a number.
        """
        counters, number = self._position, self._position.epochs_done + 1
        words = f"poch {number:,} of {self._sizes.epochs:,}"
        while left := self._sizes.steps_per_epoch - counters.steps_of_epoch:
            steps = self._stop.barrier(self._next_steps(left))
            if not steps:
                return None
            self._steps(number, steps)
            self._events.phase("training", f"E{words}")
            after_call()
            spent = self._ledger.due()
            if spent is not None:
                self._events.log(spent)
        is_validated = self._recipe.validates(number)
        validation = self._compiled.validation if is_validated else None
        with self._compiled.averaging.applied():
            scores = self.scores(validation, "validating", f"Validating e{words}")
            if validation is not None and scores is None:
                return None  # stopped: it will be validated as a whole when the run goes on
            rate = self._rate_of(counters.step - 1)
            measured = self._watch.measured(number, counters.step, rate)
        if measured is not None:
            self._events.log(measured)
        return self._log_epoch(number, scores), scores

    def _next_steps(self, left: int) -> int:
        """Steps of the next call, of those that are left of the epoch."""
        counters = self._position
        images = counters.steps_of_epoch * self._sizes.batch_size
        return self._watch.call_steps(
            min(self._call.steps, left),
            left,
            seconds=counters.seconds,
            image_s=counters.epoch_training_s / images if images else 0.0,
        )

    def _steps(self, epoch: int, steps: int) -> None:
        """Trains and logs the steps of one call."""
        counters = self._position
        if not self._scales or self._scales[-1][1] != self._rules.rate_scale:
            self._scales.append((counters.step, self._rules.rate_scale))
        rates = self._rates(counters.step, steps)
        self._watch.before(
            is_last=counters.steps_of_epoch + steps == self._sizes.steps_per_epoch and steps == 1
        )
        results = self._compiled.loop.train(self._compiled.iterator, steps, rates=rates)
        # A step by itself says nothing about the length of a call.
        is_measured = self._watch.after()
        self._ledger.add_call(results, is_first=not self._is_compiled)
        counters.add(results)
        self._log_batches(results, epoch)
        # The first call compiles: what it took says nothing about the next.
        if self._is_compiled and not is_measured:
            self._call.learn(results)
        self._is_compiled = True

    def _rates(self, first: int, count: int) -> Rates:
        """The learning rates of steps, counted from 0, as they are or were trained with."""
        sizes, steps = self._sizes, np.arange(first, first + count)
        scales = np.ones(count, np.float32)
        for begin, scale in self._scales:
            scales[steps >= begin] = scale
        total, of_epoch = sizes.total_steps, sizes.steps_per_epoch
        return learning_rates(self._recipe, first, count, total, of_epoch) * scales

    def _log_batches(self, results: StepResults, epoch: int) -> None:
        count = len(results.losses)
        first_step = self._position.step - count + 1
        speed = count * self._sizes.batch_size / max(results.seconds, 1e-9)
        self._events.batches(
            epoch=epoch,
            first_step=first_step,
            losses=results.losses.tolist(),
            accuracies=results.accuracies.tolist(),
            images_per_second=round(speed, 1) if self._is_compiled else 0.0,
            learning_rate=self._rate_of(self._position.step - 1),
        )
        bad = np.flatnonzero(~np.isfinite(results.losses))
        if len(bad):
            step = first_step + int(bad[0])
            raise self.diverged("the loss is not finite", step, self._found(step))

    def _found(self, bad_step: int) -> str:
        """Sentence with the layer at which the values of a step stopped being finite; "" where
        several machines train: they cannot go back together.
        """
        if self._compiled.loop.share != WHOLE:
            return ""
        self._events.phase("diagnosing", "Locating the first layer with non-finite values")
        culprit = self._replay.find(bad_step)
        return culprit.words if culprit is not None else ""

    def _rate_of(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        sizes = self._sizes
        rate = learning_rate_at(self._recipe, step, sizes.total_steps, sizes.steps_per_epoch)
        return rate * self._rules.rate_scale

    def diverged(self, what: str, step: int, found: str = "") -> DivergedError:
        """The error of values that are no numbers."""
        return DivergedError(what, step, self._compiled.phase.recipe.peak_rate, found)

    def scores(
        self, evaluator: Evaluator | None, phase: str, text: str, *, to_the_end: bool = False
    ) -> Scores | None:
        """Evaluates and logs its progress; None without images, or when stopped, which
        `to_the_end` forbids.
        """
        if evaluator is None:
            return None
        self._events.phase(phase, text, 0.0)
        barrier = partial(self._stop.barrier, to_the_end=to_the_end)
        with self._ledger.spending("validation"):
            return evaluator.scores(partial(self._events.phase, phase, text), barrier)

    def _log_epoch(self, number: int, scores: Scores | None) -> EpochFinished:
        counters, sizes = self._position, self._sizes
        loss, accuracy = counters.means()
        images = sizes.steps_per_epoch * sizes.batch_size
        return self._events.log(
            EpochFinished(
                epoch=number,
                step=counters.step,
                loss=finite(loss),
                accuracy=finite(accuracy),
                val_loss=finite(scores.loss) if scores else None,
                val_accuracy=finite(scores.accuracy) if scores else None,
                top_k_accuracy=scores.top_k_accuracy if scores else None,
                seconds=round(counters.epoch_seconds, 4),
                images_per_second=round(images / max(counters.epoch_training_s, 1e-9), 1),
                learning_rate=self._rate_of(counters.step - 1),
            )
        )
