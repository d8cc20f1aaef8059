"""The advice beside "Where the time goes" is followed: epochs get shorter by it.

Compares measured times, which a busy computer turns: run by `prove.sh time_advice` alone.
"""

from __future__ import annotations

import os
from dataclasses import replace
from statistics import median

import numpy as np
import pytest
from PIL import Image

from tests.worker.conftest import stripes
from workbench.core.projects.project import Choice
from workbench.protocol.events import EpochFinished, TimeSpent
from workbench.worker.step import training_loop

pytestmark = [
    pytest.mark.worker,
    pytest.mark.skipif(
        "WORKBENCH_TIMED_TESTS" not in os.environ,
        reason="compares times: bash packaging/prove.sh time_advice",
    ),
]

TURNED = [("random_rotation", {"factor": 0.3}), ("random_zoom", {"height_factor": 0.3})]
EPOCHS = {"epochs": 6, "precision": "float32", "xla": "off"}


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Advice after a moment of steps: how soon it comes is no part of what it says."""
    monkeypatch.setattr(training_loop, "_SETTLED_S", 0.2)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A folder of large JPEG files in two classes: decoding them takes long."""
    folder, random = tmp_path_factory.mktemp("data") / "photos", np.random.default_rng(1)
    for number in range(80):
        place = folder / f"class{number % 2}"
        place.mkdir(parents=True, exist_ok=True)
        pixels = random.integers(0, 255, (900, 900, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(place / f"{number}.jpg", quality=90)
    return folder


def with_shape(project, shape):
    """The project with images of another size."""
    start = replace(project.graph.nodes["n0"], params={"shape": shape})
    return replace(project, graph=project.graph.with_node(start))


def epoch_s(trained):
    """Seconds of an epoch; the first ones compile."""
    return median(event.seconds for event in trained.all(EpochFinished)[2:])


def follow(train_here, before, after, words):
    """Trains as it was and by the advice."""
    first = train_here(before)
    advice = first.all(TimeSpent)[-1].advice
    assert words in advice, first.all(TimeSpent)[-1]
    assert epoch_s(train_here(after)) < epoch_s(first), advice


def test_automatic_steps_per_execution(train_here, small_project):
    recipe = {**EPOCHS, "batch_size": 2, "validation": "none"}
    before = small_project(steps_per_call=1, **recipe)
    after = small_project(**recipe)
    follow(train_here, before, after, "set the steps per execution to automatic")


def test_less_augmentation(train_here, small_project, tmp_path):
    images, labels = stripes(1200, 1)
    large = np.kron(images, np.ones((1, 16, 16, 1), np.uint8))
    path = tmp_path / "large.npz"
    np.savez(path, x_train=large, y_train=labels, x_test=large[:50], y_test=labels[:50])
    recipe = {**EPOCHS, "batch_size": 100, "validation": "none", "data": path}
    before, after = (
        with_shape(small_project(*body, **recipe), (128, 128, 1))
        for body in ([*TURNED, ("rescaling", {})], [("rescaling", {})])
    )
    follow(train_here, before, after, "use less augmentation")


def test_a_smaller_validation_split_of_epochs_with_set_steps(train_here, small_project, tmp_path):
    path = tmp_path / "many.npz"
    (x_train, y_train), (x_test, y_test) = stripes(60_000, 1), stripes(100, 2)
    np.savez(path, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)
    recipe = {**EPOCHS, "epochs": 10, "steps_per_epoch": 60, "validation": "split", "data": path}
    body = [("rescaling", {}), ("conv2d", {"filters": 16}), ("relu", {})]
    follow(
        train_here,
        small_project(*body, validation_share=0.8, **recipe),
        small_project(*body, validation_share=0.05, **recipe),
        "use a smaller validation split",
    )


def test_images_cached_instead_of_decoded_in_each_epoch(train_here, small_project, photos):
    project = small_project(batch_size=8, validation="none", classes=2, **EPOCHS)
    source = Choice("folder", {"path": str(photos)})
    before = replace(with_shape(project, (32, 32, 3)), dataset=source)
    before = replace(before, recipe=before.recipe.with_values(pipeline="streamed"))
    after = replace(before, recipe=before.recipe.with_values(pipeline="memory"))
    follow(train_here, before, after, "cache decoded images")
