"""What a layer's file says of its layer is what Keras's layer does."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.specs import Role, ShapeProblem
from workbench.layers import all_layers
from workbench.worker.model.build import make_layer
from workbench.worker.model.fast_layers import EXACT_BIAS

pytestmark = [
    pytest.mark.worker,
    pytest.mark.filterwarnings("ignore:You are using a softmax over axis"),
]

SPECS = [spec for spec in all_layers().values() if spec.role is not Role.INPUT]
SHAPES = ((8, 8, 4), (9,), (4, 4, 32))
BATCH = 8


@pytest.fixture(scope="module")
def keras():
    import keras

    yield keras
    keras.backend.clear_session()


def made(keras, spec, **params):
    """A layer with a seed, and a batch of inputs that suits it."""
    values = {**spec.defaults(), **params}
    shape = next(shape for shape in SHAPES if _fits(spec, values, shape))
    cls = getattr(keras.layers, spec.title)
    layer = make_layer(cls, "layer", spec.keras_arguments(values), seed=3)
    random = np.random.default_rng(5)
    batch = random.uniform(1, 250, (BATCH, *shape)).astype("float32")
    return layer, [batch] * spec.min_inputs if spec.min_inputs > 1 else batch


def _fits(spec, values, shape):
    try:
        spec.infer_shape(values, [shape] * spec.min_inputs)
    except ShapeProblem:
        return False
    return True


def called(layer, batch):
    """What a layer gives in training."""
    has_training = getattr(layer, "_call_has_training_arg", False)
    return np.asarray(layer(batch, training=True) if has_training else layer(batch))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.key)
def test_randomness_is_said_and_can_be_switched_off(keras, spec):
    layer, batch = made(keras, spec)
    draws = not np.array_equal(called(layer, batch), called(layer, batch))
    assert draws == bool(spec.randomness or spec.place == "pipeline")
    if spec.randomness:
        layer, batch = made(keras, spec, **{spec.randomness: 0.0})
        np.testing.assert_array_equal(called(layer, batch), np.asarray(layer(batch)))


@pytest.mark.parametrize(
    "spec", [s for s in SPECS if s.place != "pipeline" and not s.randomness], ids=lambda s: s.key
)
def test_what_looks_at_the_other_pictures_of_a_batch_says_so(keras, spec):
    layer, batch = made(keras, spec)
    first = [part[:1] for part in batch] if isinstance(batch, list) else batch[:1]
    alone, within = called(layer, first), called(layer, batch)[:1]
    assert np.allclose(alone, within, rtol=1e-4, atol=1e-4) != spec.has_batch_statistics


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.key)
def test_adapted_layers_say_so(keras, spec):
    assert spec.is_adapted == hasattr(getattr(keras.layers, spec.title), "adapt")


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.key)
def test_layers_with_a_bias_learn_it_in_bfloat16_too(keras, spec):
    layer, batch = made(keras, spec)
    called(layer, batch)
    has_bias = any(weight.name == "bias" for weight in layer.weights)
    assert has_bias == (spec.training_class in EXACT_BIAS)


@pytest.mark.parametrize("spec", [s for s in SPECS if s.is_linear], ids=lambda spec: spec.key)
def test_what_is_said_to_be_linear_is_that_in_a_trained_network(keras, spec):
    layer, batch = made(keras, spec)
    other = np.random.default_rng(6).uniform(-9, 9, batch.shape).astype("float32")

    def given(inputs):
        return np.asarray(layer(inputs, training=False), dtype="float64")

    assert given(batch + other) + given(np.zeros_like(batch)) == pytest.approx(
        given(batch) + given(other), rel=1e-4, abs=1e-2
    )
