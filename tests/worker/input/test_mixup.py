"""Mixtures and erased rectangles: what they hold, and that they come from (seed, step) alone."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.training.recipe import TrainingRecipe
from workbench.worker.input.augment import erase, mix

pytestmark = pytest.mark.worker

_COUNT = 64


@pytest.fixture(scope="module")
def tf():
    import tensorflow as tf

    return tf


@pytest.fixture
def batch():
    """Pictures of one value each, its number; class = number modulo 4."""
    values = np.arange(_COUNT, dtype=np.uint8) * 3
    pictures = np.broadcast_to(values[:, None, None, None], (_COUNT, 10, 14, 3)).copy()
    return pictures, np.arange(_COUNT) % 4


def mixed(tf, batch, mixing, *, alpha=1.0, step=5, seed=7):
    recipe = TrainingRecipe(mixing=mixing, mixing_alpha=alpha)
    pictures, labels = (tf.constant(part) for part in batch)
    found = mix(pictures, labels, seed=seed, step=step, recipe=recipe, num_classes=4)
    return [part.numpy() for part in found]


def test_mixup_fades_pictures_as_it_fades_labels(tf, batch):
    pictures, labels = batch
    faded, targets = mixed(tf, batch, "mixup")
    own = targets[np.arange(_COUNT), labels]
    assert targets.sum(axis=1) == pytest.approx(1.0)
    expected = own * pictures[:, 0, 0, 0] + (1 - own) * np.roll(pictures[:, 0, 0, 0], 1)
    assert faded.dtype == np.float32
    assert faded == pytest.approx(
        np.broadcast_to(expected[:, None, None, None], faded.shape), rel=1e-4
    )
    assert own.std() > 0.2
    assert own.min() < 0.2
    assert own.max() > 0.8


def test_cutmix_returns_the_share_that_was_cut(tf, batch):
    pictures, labels = batch
    cut, targets = mixed(tf, batch, "cutmix")
    assert cut.dtype == np.uint8
    is_own = (cut == pictures).all(axis=-1)
    assert (is_own | (cut == np.roll(pictures, 1, axis=0)).all(axis=-1)).all()
    shares = is_own.mean(axis=(1, 2))
    assert targets[np.arange(_COUNT), labels] == pytest.approx(shares, abs=1e-6)
    assert 0.2 < shares.mean() < 0.95
    for picture in is_own[shares < 1]:
        rows, columns = np.nonzero(~picture)
        area = (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
        assert area == (~picture).sum()  # one whole rectangle


@pytest.mark.parametrize("alpha", [0.001, 0.2, 50.0])
def test_any_alpha_gives_shares(tf, batch, alpha):
    _, targets = mixed(tf, batch, "mixup", alpha=alpha)
    assert np.isfinite(targets).all()
    assert (targets >= 0).all()
    spread = targets.max(axis=1).mean()
    assert spread > 0.95 if alpha < 0.1 else spread < 0.95


@pytest.mark.parametrize("mixing", ["mixup", "cutmix"])
def test_the_same_step_gives_the_same_mixture(tf, batch, mixing):
    first, again = mixed(tf, batch, mixing), mixed(tf, batch, mixing)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[1], mixed(tf, batch, mixing, step=6)[1])
    assert not np.array_equal(first[1], mixed(tf, batch, mixing, seed=8)[1])


@pytest.mark.parametrize("dtype", ["uint8", "float32", "bfloat16"])
def test_erasing_replaces_rectangles_by_the_mean(tf, dtype):
    random = np.random.default_rng(0)
    pictures = tf.cast(random.integers(0, 256, (400, 20, 20, 1)), dtype)

    def erased(share, step=1):
        recipe = TrainingRecipe(random_erasing=share)
        return erase(pictures, seed=3, step=step, recipe=recipe)

    found = erased(0.5)
    assert found.dtype == pictures.dtype
    plain, left = tf.cast(pictures, tf.float32).numpy(), tf.cast(found, tf.float32).numpy()
    changed = (plain != left).any(axis=-1)
    share = changed.any(axis=(1, 2)).mean()
    assert 0.4 < share < 0.6
    areas = changed.mean(axis=(1, 2))
    assert 0.01 < areas[areas > 0].mean() < 0.33
    for one in np.flatnonzero(areas)[:20]:
        values = left[one][changed[one]]
        assert np.ptp(values) == 0
        assert values[0] == pytest.approx(plain[one].mean(), abs=1.5)
    assert np.array_equal(erased(0.0).numpy(), pictures.numpy())
    assert np.array_equal(erased(0.5).numpy(), found.numpy())
    assert not np.array_equal(erased(0.5, step=2).numpy(), found.numpy())


def test_it_runs_within_a_pipeline(tf, batch):
    recipe = TrainingRecipe(mixing="cutmix", random_erasing=0.5)
    numbered = tf.data.Dataset.counter(0, 1).take(3)

    def make(step):
        pictures, labels = (tf.constant(part) for part in batch)
        pictures = erase(pictures, seed=1, step=step, recipe=recipe)
        return mix(pictures, labels, seed=1, step=step, recipe=recipe, num_classes=4)

    (_, first), (_, second), _ = numbered.map(make).as_numpy_iterator()
    assert first.shape == (_COUNT, 4)
    assert not np.array_equal(first, second)
