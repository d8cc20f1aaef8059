"""Our augmentation does what Keras's layers do with the same draws, in one go."""

from __future__ import annotations

from itertools import pairwise

import keras
import numpy as np
import pytest
import tensorflow as tf

from workbench.layers import layers_by_title
from workbench.worker.input.augment import augmentation, through

pytestmark = pytest.mark.worker

LAYERS = keras.layers
BATCH, HEIGHT, WIDTH = 6, 24, 31


def smooth_pictures(channels=3):
    """uint8 pictures without sharp edges, so that interpolating twice changes little."""
    random = np.random.default_rng(5)
    coarse = random.uniform(30, 220, (BATCH, 4, 5, channels)).astype(np.float32)
    pictures = tf.image.resize(coarse, (HEIGHT, WIDTH), "bicubic")
    return tf.cast(tf.clip_by_value(pictures, 0, 255), tf.uint8)


def numbers_of(layers, seed, step):
    """The uniform numbers that the fused function draws, one column each."""
    forms = [layers_by_title()[type(layer).__name__].pipeline_form for layer in layers]
    total = max(sum(form.draws for form in forms), 1)
    return tf.random.stateless_uniform((BATCH, total), [step, seed]).numpy()


class Dealer:
    """Replaces keras.random.uniform within a layer: deals our own columns out."""

    def __init__(self, numbers):
        self._columns = iter(numbers.T)

    def uniform(self, shape, minval=0.0, maxval=1.0, **_):
        return tf.reshape(minval + (maxval - minval) * next(self._columns), shape)


def as_keras_does(layers, pictures, numbers, monkeypatch):
    """Keras's own layers one after the other, given the same numbers.

    Of float32: RandomContrast and RandomBrightness of Keras 3.15 cannot do uint8.
    """
    pictures = tf.cast(pictures, tf.float32)
    dealer = Dealer(numbers)
    for layer in layers:
        with monkeypatch.context() as patch:
            if hasattr(layer, "generator"):
                patch.setattr(layer.backend.random, "uniform", dealer.uniform)
            pictures = (
                layer(pictures, training=True) if hasattr(layer, "generator") else layer(pictures)
            )
    return np.asarray(pictures)


def inner(pictures, edge):
    return np.asarray(pictures)[:, edge:-edge, edge:-edge]


@pytest.mark.full_but("False", "<lambda>0")
@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        lambda: LAYERS.RandomFlip("horizontal"),
        lambda: LAYERS.RandomFlip("vertical"),
        lambda: LAYERS.RandomFlip("horizontal_and_vertical"),
        lambda: LAYERS.RandomRotation(0.2),
        lambda: LAYERS.RandomRotation(0.2, fill_mode="constant", fill_value=9.0),
        lambda: LAYERS.RandomRotation(0.2, fill_mode="nearest", interpolation="nearest"),
        lambda: LAYERS.RandomZoom(0.4),
        lambda: LAYERS.RandomZoom(0.4, 0.1, fill_mode="nearest"),
        lambda: LAYERS.RandomTranslation(0.3, 0.2),
        lambda: LAYERS.RandomTranslation(0.3, 0.2, fill_mode="constant"),
        lambda: LAYERS.RandomContrast(0.6),
        lambda: LAYERS.RandomBrightness(0.5),
        lambda: LAYERS.Rescaling(-1 / 127.5, 1.0),
    ],
)
def test_each_layer_is_kerass_own(make, jit, monkeypatch):
    layer, pictures = make(), smooth_pictures()
    numbers = numbers_of([layer], 3, 11)
    wanted = as_keras_does([layer], pictures, numbers, monkeypatch)
    made = augmentation([layer], seed=3, jit=jit)(pictures, tf.constant(11, tf.int64)).numpy()
    assert wanted.std() > 0
    # A place that falls between two pixels of "nearest" may round either way.
    assert np.mean(np.abs(made - wanted) > 0.02) < 0.002


def test_wrap_repeats_the_picture():
    layer = LAYERS.RandomTranslation(0.5, 0.5, fill_mode="wrap", interpolation="nearest")
    pictures = smooth_pictures()
    made = augmentation([layer], seed=1)(pictures, tf.constant(0, tf.int64)).numpy()
    for before, after in zip(pictures.numpy(), made, strict=True):
        assert sorted(before.ravel().tolist()) == sorted(after.ravel().tolist())


@pytest.mark.full_but("False")
@pytest.mark.parametrize("jit", [True, False])
def test_a_whole_chain_is_close_to_kerass_layers(jit, monkeypatch):
    chain = [
        LAYERS.RandomFlip("horizontal"), LAYERS.RandomRotation(0.03), LAYERS.RandomZoom(0.1),
        LAYERS.RandomTranslation(0.05, 0.05), LAYERS.RandomContrast(0.2),
        LAYERS.RandomBrightness(0.15), LAYERS.Rescaling(1 / 255),
    ]  # fmt: skip
    pictures = smooth_pictures()
    wanted = as_keras_does(chain, pictures, numbers_of(chain, 2, 5), monkeypatch)
    # numbers_of counts RandomZoom twice, as the fused function does
    made = augmentation(chain, seed=2, jit=jit)(pictures, tf.constant(5, tf.int64)).numpy()
    assert made.shape == wanted.shape
    # Away from the borders, where Keras mirrors what it has mirrored before.
    assert np.abs(inner(made, 5) - inner(wanted, 5)).max() < 0.03


def test_values_are_exact_whatever_their_order(monkeypatch):
    chain = [
        LAYERS.Rescaling(1 / 255), LAYERS.RandomContrast(0.9, value_range=(0, 1)),
        LAYERS.RandomBrightness(0.9, value_range=(0, 1)),
        LAYERS.RandomContrast(0.5, value_range=(0, 1)),
        LAYERS.RandomBrightness(0.9, value_range=(0, 1)), LAYERS.Rescaling(2.0, -1.0),
        LAYERS.Normalization(mean=[0.1, 0.2, 0.3], variance=[0.5, 1.0, 2.0]),
    ]  # fmt: skip
    chain[-1].build((None, HEIGHT, WIDTH, 3))
    pictures = smooth_pictures()
    wanted = as_keras_does(chain, pictures, numbers_of(chain[:-2], 4, 9), monkeypatch)
    made = augmentation(chain, seed=4)(pictures, tf.constant(9, tf.int64)).numpy()
    assert np.abs(made - wanted).max() < 1e-4
    assert (wanted[..., 0] == wanted[..., 0].min()).mean() > 0.001  # some values were clipped


def test_moves_after_values_and_moves_that_sample_otherwise_keep_their_order(monkeypatch):
    chain = [
        LAYERS.RandomContrast(0.5), LAYERS.RandomRotation(0.02),
        LAYERS.RandomTranslation(0.1, 0.1, fill_mode="constant", fill_value=7.0),
        LAYERS.RandomFlip("horizontal"), LAYERS.RandomBrightness(0.1),
    ]  # fmt: skip
    pictures = smooth_pictures()
    wanted = as_keras_does(chain, pictures, numbers_of(chain, 8, 1), monkeypatch)
    made = augmentation(chain, seed=8)(pictures, tf.constant(1, tf.int64)).numpy()
    assert np.mean(np.abs(made - wanted) > 1.0) < 0.01


def test_other_layers_run_as_keras_has_them():
    chain = [LAYERS.RandomFlip("horizontal"), LAYERS.Resizing(8, 8), LAYERS.RandomCrop(5, 5)]
    augment = augmentation(chain, seed=8)
    pictures = smooth_pictures()
    results = [augment(pictures, tf.constant(step, tf.int64)).numpy() for step in (1, 2, 1)]
    assert results[0].shape == (BATCH, 5, 5, 3)
    assert (results[0] == results[2]).all()
    assert (results[0] != results[1]).any()


def test_other_layers_can_be_evaluated_after_training_has_begun():
    """Each in a pipeline of its own, which TensorFlow traces as a graph of its own."""
    layer, pictures = LAYERS.RandomSharpness(0.9), tf.cast(smooth_pictures(), tf.float32)
    augment = augmentation([layer], seed=8)
    steps = tf.data.Dataset.range(2)
    trained = [made.numpy() for made in steps.map(lambda step: augment(pictures, step))]
    assert (trained[0] != trained[1]).any()
    (seen,) = steps.take(1).map(lambda _: through(pictures, [layer], training=False))
    assert (seen.numpy() == pictures.numpy()).all()
    assert (augment(pictures, tf.constant(1, tf.int64)).numpy() == trained[1]).all()


def test_draws_follow_seed_and_step_and_differ_between_pictures():
    chain = [LAYERS.RandomTranslation(0.3, 0.3), LAYERS.RandomBrightness(0.3)]
    pictures = tf.tile(smooth_pictures()[:1], (BATCH, 1, 1, 1))

    def made(seed, step):
        return augmentation(chain, seed=seed)(pictures, tf.constant(step, tf.int64)).numpy()

    first = made(1, 0)
    assert (first == made(1, 0)).all()
    for one, other in pairwise(first):
        assert (one != other).any()
    assert (first != made(2, 0)).any()
    assert (first != made(1, 1)).any()


def test_the_requested_type_is_given_and_equals_a_later_cast():
    chain = [LAYERS.RandomRotation(0.1), LAYERS.Rescaling(1 / 255)]
    pictures = smooth_pictures(channels=1)
    step = tf.constant(0, tf.int64)
    wide = augmentation(chain, seed=1)(pictures, step)
    narrow = augmentation(chain, seed=1, dtype="bfloat16")(pictures, step)
    assert narrow.dtype == tf.bfloat16
    assert bool(tf.reduce_all(narrow == tf.cast(wide, tf.bfloat16)))
    assert augmentation([], seed=1, dtype="bfloat16")(pictures, step) is pictures
