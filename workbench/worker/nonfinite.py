"""Finds the first layer whose output stopped being finite, after a training has diverged.

When a loss is not a number, the weights that made it so are gone already: that step's update
has spoilt all of them. But each batch is a function of (seed, step), so the steps since the
last checkpoint can be trained once more, up to the step before; then the batch is sent
through the network layer by layer. Normal training pays nothing for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from workbench.worker.build import BuiltModel
from workbench.worker.loop import TrainingLoop

_CALL_STEPS = 16
_LIMIT_S = 120.0
"""Checkpoints are at most a minute apart; whoever waits longer wants to get on."""

Arrays = Mapping[str, np.ndarray[Any, Any]]
Rates = np.ndarray[Any, np.dtype[np.float32]]


class Replayed(Protocol):
    """What can be trained again from an earlier step, see `compiled.Compiled`."""

    @property
    def built(self) -> BuiltModel: ...
    @property
    def loop(self) -> TrainingLoop: ...
    def restart(self, step: int) -> Any:
        """A new iterator of the training batches from a step on."""
        ...


@dataclass(frozen=True)
class Culprit:
    """Where values stopped being finite.

    Attributes:
        layer: Name of the layer in Keras; "" for the pictures themselves or for the loss.
        words: What was found, as the second half of a sentence.
    """

    layer: str
    words: str


def find_culprit(
    tf: Any,
    keras: Any,
    compiled: Replayed,
    *,
    bad_step: int,
    restore: Callable[[], int],
    rates: Callable[[int, int], Rates],
    is_stopped: Callable[[], bool],
) -> Culprit | None:
    """Trains again up to the bad step, and looks at its batch.

    Args:
        tf: TensorFlow.
        keras: Keras on it.
        compiled: What diverged; its weights are of no use afterwards.
        bad_step: The step whose loss is not finite, counted from 1.
        restore: Puts an earlier state into the variables and returns how many steps it has
            done; fewer than `bad_step`.
        rates: (first step from 0, count) -> the learning rates as they were trained with.
        is_stopped: Asked between calls.

    Returns:
        None when it was stopped, took too long, or did not happen again.
    """
    done = restore()
    iterator = compiled.restart(done)
    deadline = time.monotonic() + _LIMIT_S
    while done < bad_step - 1:
        if is_stopped() or time.monotonic() > deadline:
            return None
        steps = min(_CALL_STEPS, bad_step - 1 - done)
        results = compiled.loop.train(iterator, steps, rates=rates(done, steps))
        if not np.isfinite(results.losses).all():
            return None  # another step than before: this machine does not repeat itself
        done += steps
    pictures, _ = next(iterator)
    return culprit_of_batch(tf, keras, compiled.built, _local(pictures))


def _local(value: Any) -> Any:
    """The first replica's part of a distributed batch."""
    return value.values[0] if hasattr(value, "values") else value


def culprit_of_batch(tf: Any, keras: Any, built: BuiltModel, pictures: Any) -> Culprit:
    """Where a batch's values stop being finite with the weights as they are now."""
    if not _is_finite(tf, pictures):
        return Culprit("", "the pictures that come out of the input pipeline are not finite")
    weights = culprit_of_weights(built)
    if weights is not None:
        return weights
    model = built.model
    probe = keras.Model(model.inputs, [layer.output for layer in model.layers])
    outputs = probe(tf.cast(pictures, tf.float32), training=True)
    outputs = outputs if isinstance(outputs, list | tuple) else [outputs]
    for layer, output in zip(model.layers, outputs, strict=True):
        if not _is_finite(tf, output):
            return Culprit(
                layer.name,
                f"the first layer whose output is not finite is “{layer.name}” "
                f"({type(layer).__name__})",
            )
    return Culprit("", "the outputs of all layers are still finite, the loss itself is not")


def culprit_of_weights(built: BuiltModel) -> Culprit | None:
    """The first layer with a weight that is not finite; None where all are."""
    for layer in built.model.layers:
        for variable in layer.variables:
            values = variable.numpy()
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                return Culprit(
                    layer.name,
                    f"the first layer with weights that are not finite is “{layer.name}” "
                    f"({type(layer).__name__})",
                )
    return None


def _is_finite(tf: Any, values: Any) -> bool:
    if not values.dtype.is_floating:
        return True
    return bool(tf.reduce_all(tf.math.is_finite(tf.cast(values, tf.float32))))
