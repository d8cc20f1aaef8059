"""Batches are a function of (seed, step): from any start, and wherever the pictures lie."""

from __future__ import annotations

from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contexts import PlainContext
from workbench.core.specs import FilePart
from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.fitted import fitted_rows
from workbench.pictures.png import write_png
from workbench.pictures.prepare import PreparedPart
from workbench.worker.input import pipeline
from workbench.worker.input import pipeline as place_module
from workbench.worker.input.pipeline import (
    cache_mode_of,
    endless_passes,
    evaluation_pipeline,
    fits_memory,
    memory_for_pictures,
    training_pipeline,
    whole_epochs,
)
from workbench.worker.process import failure
from workbench.worker.process.failure import error_parts

pytestmark = pytest.mark.worker

COUNT, BATCH, SHAPE = 23, 4, (10, 12, 3)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The same pictures in each place: an array, stored rows, files."""
    folder = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(2)
    pictures = random.integers(0, 256, (COUNT, *SHAPE), dtype=np.uint8)
    paths = [str(folder / f"{number}.png") for number in range(COUNT)]
    for path, picture in zip(paths, pictures, strict=True):
        write_png(path, picture)
    labels = np.arange(COUNT) % 3
    files, ctx = FilePart(tuple(paths), labels), PlainContext(folder / "cache")
    stored = fitted_rows(files, SHAPE, "crop", ctx, "pictures").rows
    streamed = fitted_rows(files, SHAPE, "crop", ctx, "pictures", is_streamed=True).rows
    return {
        "memory": PreparedPart(pictures, labels),
        "cached": PreparedPart(stored, labels),
        "streamed": PreparedPart(streamed, labels),
    }


def batches(part, *, steps, **more):
    return first_of(pipeline_of(part, **more), steps)


def pipeline_of(part, *, start_step=0, layers=None, order=whole_epochs, **more):
    if layers is None:
        layers = [
            keras.layers.RandomFlip("horizontal"), keras.layers.RandomRotation(0.1),
            keras.layers.RandomContrast(0.3), keras.layers.Rescaling(1 / 255),
        ]  # fmt: skip
    return training_pipeline(
        part, partial(order, COUNT, BATCH, seed=6), layers,
        batch_size=BATCH, seed=6, start_step=start_step, **more
    )  # fmt: skip


def first_of(dataset, steps):
    return [(x.numpy(), y.numpy()) for x, y in dataset.take(steps)]


def assert_equal(some, others):
    assert len(some) == len(others) > 0
    for (x, y), (other_x, other_y) in zip(some, others, strict=True):
        assert x.dtype == other_x.dtype
        assert (x == other_x).all()
        assert (y == other_y).all()


@pytest.mark.parametrize(
    ("order", "recipe"),
    [
        (whole_epochs, TrainingRecipe()),
        (endless_passes, TrainingRecipe(mixing="cutmix", random_erasing=0.5)),
    ],
)
def test_a_pipeline_from_a_later_step_goes_on_where_the_first_was(parts, order, recipe):
    more = {"order": order, "recipe": recipe, "num_classes": 3}
    whole = batches(parts["memory"], steps=14, **more)
    start = 0
    later = pipeline_of(parts["memory"], start_step=lambda: start, **more)
    for start in (5, 11):
        assert_equal(whole[start:], first_of(later, 14 - start))
    assert any((x != y).any() for (x, _), (y, _) in zip(whole[:6], whole[5:11], strict=True))


def test_batches_are_the_same_wherever_the_pictures_lie_and_whoever_makes_them(parts, monkeypatch):
    monkeypatch.setattr(pipeline, "_THREADS", 1)
    first = batches(parts["memory"], steps=8)
    monkeypatch.setattr(pipeline, "_THREADS", 4)
    for kind, place in [("memory", "cached"), ("cached", "memory"), ("cached", "cached"),
                        ("streamed", "streamed"), ("streamed", "memory")]:  # fmt: skip
        assert_equal(first, batches(parts[kind], steps=8, place=place))


def test_the_same_dataset_can_begin_again_at_any_step(parts):
    step = 0
    whole = batches(parts["memory"], steps=9, layers=[])
    dataset = pipeline_of(parts["memory"], layers=[], start_step=lambda: step)
    for step in (7, 0, 3):
        assert_equal(whole[step : step + 2], first_of(dataset, 2))


def test_pictures_stay_bytes_where_no_layer_runs(parts):
    ((x, y),) = batches(parts["cached"], steps=1, layers=[])
    order = next(whole_epochs(COUNT, BATCH, seed=6))[0]
    assert (x == parts["memory"].x[order]).all()
    assert (y == parts["memory"].y[order]).all()


def test_an_evaluation_shows_each_picture_once(parts):
    layers = [keras.layers.RandomFlip(), keras.layers.Rescaling(1 / 255)]
    for part in parts.values():
        dataset = evaluation_pipeline(part, layers, batch_size=BATCH)
        x, y, weights = (np.concatenate(column) for column in zip(*dataset, strict=True))
        assert x.shape[0] == 24
        assert np.allclose(x[weights > 0] * 255, parts["memory"].x, atol=1e-3)
        assert (y[weights > 0] == part.y).all()


def test_an_evaluation_keeps_bytes_where_layers_work_in_training_only(parts):
    layers = [keras.layers.RandomFlip(), keras.layers.RandomContrast(0.5)]
    dataset = evaluation_pipeline(parts["cached"], layers, batch_size=BATCH)
    x = np.concatenate([pictures for pictures, _, _ in dataset])
    assert x.dtype == np.uint8
    assert (x[:COUNT] == parts["memory"].x).all()


def test_the_order_can_begin_at_any_step():
    for make in (whole_epochs, endless_passes):
        for count, batch in [(23, 4), (8, 8), (9, 2), (5, 5), (100, 33)]:
            blocks = make(count, batch, seed=1)
            flat = np.concatenate([next(blocks) for _ in range(8)])
            for start in range(len(flat) - 1):
                later = make(count, batch, seed=1, start_step=start)
                found = np.concatenate([next(later) for _ in range(2)])
                end = min(len(flat), start + len(found))
                assert (found[: end - start] == flat[start:end]).all()


def test_the_place_follows_memory_and_the_recipe(parts, monkeypatch):
    auto = TrainingRecipe()
    assert cache_mode_of(parts["memory"], auto) == "memory"
    assert cache_mode_of(parts["cached"], auto) == "memory"
    assert cache_mode_of(parts["cached"], TrainingRecipe(pipeline="cached")) == "cached"
    assert cache_mode_of(parts["streamed"], TrainingRecipe(pipeline="streamed")) == "streamed"
    monkeypatch.setattr(place_module, "own_limits", lambda: [(10**12, 0), (6000, 5000)])
    assert memory_for_pictures() == 500
    assert cache_mode_of(parts["cached"], auto) == "cached"
    assert cache_mode_of(parts["streamed"], auto) == "streamed"
    assert cache_mode_of(parts["cached"], TrainingRecipe(pipeline="memory")) == "memory"
    assert not fits_memory(parts["memory"])
    # An array is in memory anyway: it is then read where it is, without a second copy.
    large = batches(parts["memory"], steps=3, place=cache_mode_of(parts["memory"], auto))
    monkeypatch.undo()
    assert_equal(large, batches(parts["memory"], steps=3))


def test_a_picture_that_disappears_is_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(failure, "_READING_FAULTS", [])
    path = tmp_path / "gone.png"
    write_png(path, np.zeros((4, 4, 3), np.uint8))
    files = FilePart((str(path),), np.zeros(1, np.int64))
    ctx = PlainContext(tmp_path / "cache")
    rows = fitted_rows(files, (4, 4, 3), "crop", ctx, "pictures", is_streamed=True).rows
    path.unlink()
    part = PreparedPart(rows, np.zeros(1, np.int64))
    dataset = evaluation_pipeline(part, [], batch_size=1)
    with pytest.raises(tf.errors.OpError) as caught:
        next(iter(dataset))
    reported = error_parts(caught.value)
    assert "no such image" in reported.what
    assert reported.where == str(path)


def test_onednns_lack_of_memory_is_reported_as_that():
    words = "Operation received an exception:Status: 1, message: could not create a memory object"
    reported = error_parts(tf.errors.AbortedError(None, None, words), batch_size=8)
    assert "memory" in reported.what
    assert "batch size of 4" in reported.fix
