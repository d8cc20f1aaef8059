"""Finds the first layer whose output stopped being finite, after a training has diverged.

When a loss is not a number, the weights that made it so are gone already: that step's update
has spoilt all of them. But each batch is a function of (seed, step), so the steps since the
last checkpoint can be trained once more, up to the step before; then the batch is sent
through the network layer by layer. Normal training pays nothing for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import WeightsError
from workbench.runs.store.checkpoint import read_checkpoint
from workbench.worker.checkpoints.prepared import TrainingJob
from workbench.worker.checkpoints.snapshot import restore, restore_at, snapshot
from workbench.worker.execution.compiled import Compiled
from workbench.worker.model.build import BuiltModel
from workbench.worker.process.lazy_keras import keras, tf

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
