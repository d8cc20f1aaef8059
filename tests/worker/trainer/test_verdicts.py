"""Real trainings that fail, overfit or are healthy, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.runs.log.event_log import read_all
from workbench.runs.log.history import MetricHistory, logged_verdict

pytestmark = pytest.mark.worker


def verdict_of(trained):
    history = MetricHistory()
    history.add_all(read_all(trained.run.events_path))
    words = logged_verdict(trained.run.events_path)
    assert history.verdict == words
    return words


def test_a_healthy_training_has_no_verdict(train_here, small_project):
    assert verdict_of(train_here(small_project(epochs=12, precision="float32"))) == ""


@pytest.mark.full_but("adam")
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_far_too_high_a_learning_rate_is_named(train_here, small_project, optimizer):
    layers = [("rescaling", {}), ("conv2d", {"filters": 4, "activation": "relu"})]
    recipe = {"optimizer": optimizer, "learning_rate": 100.0, "epochs": 5, "precision": "float32"}
    words = verdict_of(train_here(small_project(*layers, **recipe)))
    assert words.startswith(("Did not learn: accuracy stays at chance (33%)", "Diverged: "))


def test_labels_learned_by_heart_are_overfitting(train_here, small_project, tmp_path):
    random = np.random.default_rng(0)
    parts = {
        f"{axis}_{part}": random.integers(0, high, shape).astype(kind)
        for part, number in (("train", 120), ("test", 120))
        for axis, high, shape, kind in (
            ("x", 256, (number, 8, 8, 1), np.uint8),
            ("y", 3, (number,), np.int64),
        )
    }
    path = tmp_path / "noise.npz"
    np.savez(path, **parts)
    layers = [("rescaling", {}), ("flatten", {}), ("dense", {"units": 64, "activation": "relu"})]
    project = small_project(
        *layers, data=path, epochs=30, optimizer="adam", learning_rate=0.01, validation="test",
        precision="float32",
    )  # fmt: skip
    assert verdict_of(train_here(project)).startswith("Overfitting since epoch ")
