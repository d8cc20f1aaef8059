"""How each layer is doing: gradients, updates, and units that have died.

Measured on a few fixed training images, without augmentation and dropout. Nothing here changes a
training: weights are only read, no random number is drawn, and a step that is measured is one that
was trained anyway.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.core.specs import ACTIVATION, RELU
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.events import LayerFigures, LayersMeasured, UnitFigures
from workbench.worker.input.pipeline import WHOLE, evaluation_pipeline
from workbench.worker.model.build import BuiltModel
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.step.training_loop import TrainingLoop

NUM_IMAGES = 256
"""Enough that a unit which is zero on all of them is of no use, and few enough to be quick."""

_GRADIENT_IMAGES = 64
"""How many of these gradients are computed for: they take three times as long as the outputs."""

SHARE = 0.01
"""Most of a training's time that is spent on measuring."""

_ALLOWANCE_S = 0.2
"""Beside it, so that a training of seconds is measured, too."""

_MOST_LAYERS = 400
"""An event is one line of the log, of at most 64 KiB."""

_EXPECTED = 0.7
"""Times what training takes for as many images that a first measurement is expected to take."""

_KINDS = frozenset({"CPU", "GPU"})
"""Devices that compute single operations quickly; a TPU compiles each of them."""

Norms = dict[str, float]
Kernels = dict[str, list[np.ndarray[Any, np.dtype[np.float32]]]]


@dataclass
class Budget:
    """Says whether there is time for a measurement."""

    spent_s: float = 0.0
    expected_s: float | None = None

    def allows(self, seconds: float, guess_s: float) -> bool:
        """Whether to measure, so many seconds after the training's begin; `guess_s` is what the
        first measurement may take.
        """
        expected = guess_s if self.expected_s is None else self.expected_s
        return self.spent_s + expected <= _ALLOWANCE_S + SHARE * seconds

    def add(self, seconds: float) -> None:
        """Books a measurement."""
        # The first one builds and warms up.
        self.expected_s = seconds / 2 if self.expected_s is None else seconds
        self.spent_s += seconds


@dataclass
class _Sums:
    """What the passes over the images add up to.

    Attributes:
        images, graded: Images that went forward, and those that went backward too.
        gradients: One for each trained variable.
        highest: The largest value of each unit, (units,) for each ReLU.
    """

    loss: float = 0.0
    hits: float = 0.0
    images: float = 0.0
    graded: float = 0.0
    gradients: list[Any] = field(default_factory=list)
    highest: list[Any] = field(default_factory=list)

    def grade(self, gradients: list[Any], weights: Any) -> None:
        """Adds the gradients of a batch's summed loss; call before its `add`."""
        before = self.gradients or [0.0] * len(gradients)
        self.gradients = [a + b for a, b in zip(before, gradients, strict=True)]
        self.graded += float(tf.reduce_sum(weights))

    def add(self, loss: Any, right: Any, weights: Any, ends: Sequence[Any]) -> None:
        """Adds a batch: its summed loss, which images are right, and the outputs of ReLUs."""
        self.loss += float(loss)
        self.hits += float(tf.reduce_sum(right * weights))
        self.images += float(tf.reduce_sum(weights))
        found = [tf.reduce_max(end, axis=list(range(len(end.shape) - 1))) for end in ends]
        highest = [tf.cast(each, tf.float32).numpy() for each in found]
        before = self.highest or highest
        self.highest = [np.maximum(a, b) for a, b in zip(before, highest, strict=True)]


class LayerProbe:
    """Measures the layers of what a loop trains.

    Args:
        loop: What is trained, of this machine alone.
        part: Its training images, or their features.
        layers: The layers of the input pipeline.
    """

    def __init__(self, loop: TrainingLoop, part: PreparedPart, layers: Sequence[Any]) -> None:
        self._built = loop.step.built
        self._objective = loop.step.objective
        size = max(1, min(loop.step.batch_size // loop.step.replicas, len(part), _GRADIENT_IMAGES))
        self._images = min(NUM_IMAGES, len(part))
        # A data set may be sorted by class. The generator is of this place alone.
        rows = np.random.default_rng(0).choice(len(part), self._images, replace=False)
        few = PreparedPart(np.ascontiguousarray(part.x[rows]), part.y[rows])
        self._batches = evaluation_pipeline(few, layers, batch_size=size)
        self._kernels = _kernels(self._built)
        self._ends = _relu_ends(self._built)
        model = self._built.model
        self._model = keras.Model(model.inputs, [model.outputs[0], *self._ends.values()])

    def weights(self) -> Kernels:
        """A copy of all kernels that learn, by node."""
        return {
            node: [np.array(kernel.value.numpy(), np.float32) for kernel in kernels]
            for node, kernels in self._kernels.items()
        }

    def measure(self, updates: Mapping[str, float]) -> dict[str, Any]:
        """The fields of `LayersMeasured`, with the relative updates of the step before."""
        sums = self._passes()
        gradients = self._norms([part / sums.graded for part in sums.gradients])
        sizes = {node: _norm(kernels) for node, kernels in self.weights().items()}
        layers = [
            LayerFigures(
                node=node,
                gradient=_ratio(gradients[node], size),
                update=_short(updates.get(node, math.nan)),
            )
            for node, size in sizes.items()
        ]
        units = [
            UnitFigures(node=node, units=len(values), dead=int((values <= 0.0).sum()))
            for node, values in zip(self._ends, sums.highest, strict=True)
        ]
        return {
            "images": self._images,
            "loss": _short(sums.loss / sums.images),
            "accuracy": _short(sums.hits / sums.images),
            "layers": layers[:_MOST_LAYERS],
            "units": units[:_MOST_LAYERS],
        }

    def _passes(self) -> _Sums:
        """Forward over all images, and backward over the first of them."""
        model, sums = self._model, _Sums()
        trained = [tf.constant(each.value.numpy()) for each in model.trainable_variables]
        fixed = [tf.constant(each.value.numpy()) for each in model.non_trainable_variables]
        for pictures, labels, weights in self._batches:
            is_graded = sums.images < _GRADIENT_IMAGES
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(trained if is_graded else [])
                found, _ = model.stateless_call(
                    trained, fixed, tf.cast(pictures, self._built.input_dtype), training=False
                )
                outputs, *ends = found if isinstance(found, list | tuple) else [found]
                total = tf.reduce_sum(self._objective.training(labels, outputs) * weights)
            if is_graded:
                sums.grade(tape.gradient(total, trained, unconnected_gradients="zero"), weights)
            right = tf.cast(tf.equal(tf.argmax(outputs, axis=-1), labels), tf.float32)
            sums.add(total, right, weights, ends if self._ends else [])
        return sums

    def _norms(self, gradients: Sequence[Any]) -> Norms:
        variables = self._model.trainable_variables
        by_id = {id(v): g for v, g in zip(variables, gradients, strict=True)}
        return {
            node: _norm([by_id[id(kernel)].numpy() for kernel in kernels])
            for node, kernels in self._kernels.items()
        }


class LayerWatch:
    """Measures at the end of epochs, as far as the budget allows.

    Call `call_steps` for the steps of the next call, `before` and `after` around it, and `measured`
    once the epoch's steps are done.

    Args:
        loop: What is trained.
        part: Its training images, or their features.
        layers: The layers of the input pipeline.
    """

    def __init__(self, loop: TrainingLoop, part: PreparedPart, layers: Sequence[Any]) -> None:
        self._parts = loop, part, layers
        devices = map(tf.DeviceSpec.from_string, loop.step.strategy.extended.worker_devices)
        is_near = all(device.device_type in _KINDS for device in devices)
        self._can = loop.share == WHOLE and is_near  # others would have to take part
        self._probe: LayerProbe | None = None
        self._budget = Budget()
        self._is_due = False
        self._before: Kernels = {}
        self._updates: Norms = {}
        self._took_s = 0.0

    def call_steps(self, wanted: int, left: int, *, seconds: float, image_s: float) -> int:
        """Steps of the next call: the last step of an epoch that is measured is one by itself.

        Args:
            wanted: Steps that the call would have.
            left: Steps that are left of the epoch.
            seconds: How long has been trained.
            image_s: What training takes for each image.
        """
        self._before = {}
        if not self._can or wanted < left:
            return wanted
        images = min(NUM_IMAGES, len(self._parts[1]))
        self._is_due = self._budget.allows(seconds, _EXPECTED * images * image_s)
        return left - 1 if self._is_due and left > 1 else left

    def before(self, *, is_last: bool) -> None:
        """Called before a call; keeps the weights before the step that is measured."""
        if is_last and self._is_due:
            started = time.monotonic()
            self._before = self._prober().weights()
            self._took_s = time.monotonic() - started

    def after(self) -> bool:
        """Called after a call; compares the weights with those before. Returns whether it was the
        single step that is measured.
        """
        if not self._before:
            return False
        started = time.monotonic()
        after = self._prober().weights()
        self._updates = {
            node: _norm([b - a for a, b in zip(kernels, after[node], strict=True)])
            / max(_norm(kernels), 1e-30)
            for node, kernels in self._before.items()
        }
        self._before = {}
        self._took_s += time.monotonic() - started
        return True

    def measured(self, epoch: int, step: int, rate: float) -> LayersMeasured | None:
        """The figures at the end of an epoch; None where it is not the time."""
        if not self._is_due:
            return None
        self._is_due = False
        started = time.monotonic()
        fields = self._prober().measure(self._updates)
        seconds = self._took_s + time.monotonic() - started
        self._budget.add(seconds)
        self._updates, self._took_s = {}, 0.0
        return LayersMeasured(
            epoch=epoch, step=step, learning_rate=rate, seconds=round(seconds, 3), **fields
        )

    def _prober(self) -> LayerProbe:
        if self._probe is None:
            self._probe = LayerProbe(*self._parts)
        return self._probe


def _kernels(built: BuiltModel) -> dict[str, list[Any]]:
    """The kernels that learn, by node: weights with two axes and more."""
    found = {
        node: [each for each in built.layers[node].trainable_variables if len(each.shape) > 1]
        for node in built.outputs
    }
    return {node: kernels for node, kernels in found.items() if kernels}


def _relu_ends(built: BuiltModel) -> dict[str, Any]:
    """The outputs of the model's layers that are zero where ReLU cuts, by node."""
    return {node: out for node, out in built.outputs.items() if _is_relu(built.layers[node])}


def _is_relu(layer: Any) -> bool:
    if isinstance(layer, keras.layers.ReLU):
        return not layer.negative_slope and not layer.threshold
    name = getattr(getattr(layer, ACTIVATION, None), "__name__", "")
    return str(name).startswith(RELU)


def _norm(arrays: Sequence[Any]) -> float:
    return math.sqrt(sum(float(np.vdot(each, each)) for each in arrays))


def _ratio(part: float, whole: float) -> float | None:
    return _short(part / whole) if whole > 0.0 else None


def _short(value: float) -> float | None:
    """Three figures; None for what is not finite."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
