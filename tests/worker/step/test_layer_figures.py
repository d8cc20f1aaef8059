"""What is measured of the layers: the right figures, and the same training as without."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.protocol.events import Batch, LayersMeasured
from workbench.runs.log.history import MetricHistory

pytestmark = pytest.mark.worker

HIDDEN = (("rescaling", {}), ("flatten", {}), ("dense", {"units": 16, "activation": "relu"}))


@pytest.fixture
def unmeasured(monkeypatch):
    """Turns measuring off."""
    from workbench.worker.step import layer_figures

    def off():
        monkeypatch.setattr(layer_figures, "_ALLOWANCE_S", -1.0)
        monkeypatch.setattr(layer_figures, "SHARE", 0.0)

    return off


@pytest.fixture
def always(monkeypatch):
    """As much is measured as there are epochs."""
    from workbench.worker.step import layer_figures

    monkeypatch.setattr(layer_figures, "_ALLOWANCE_S", 1e9)


def losses(trained):
    return [loss for event in trained.all(Batch) for loss in event.losses]


def test_measuring_changes_no_bit_of_a_training(train_here, small_project, always, unmeasured):
    layers = (*HIDDEN, ("dropout", {"rate": 0.3}), ("batch_normalization", {}))
    project = small_project(*layers, precision="float32", xla="off", optimizer="adam")
    measured = train_here(project)
    unmeasured()
    plain = train_here(project)
    assert len(measured.all(LayersMeasured)) == 3
    assert not plain.all(LayersMeasured)
    assert losses(measured) == losses(plain)
    states = [each.training.counters.to_arrays() for each in (measured, plain)]
    assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])
    first, second = (np.load(each.run.path / "weights.npz") for each in (measured, plain))
    assert all(np.array_equal(first[name], second[name]) for name in first.files)


def test_the_figures_are_those_of_the_step(train_here, small_project, always):
    """With plain SGD the update is the learning rate times the gradient."""
    project = small_project(
        *HIDDEN, precision="float32", epochs=2, optimizer="sgd", momentum=0.0,
        learning_rate=0.01, batch_size=540,
    )  # fmt: skip
    trained = train_here(project)
    event = trained.all(LayersMeasured)[-1]
    assert [layer.node for layer in event.layers] == ["n3", "n5"]
    assert event.images == 256
    assert 0.0 < event.loss < 2.0
    assert 0.0 <= event.accuracy <= 1.0
    for layer in event.layers:
        assert layer.update == pytest.approx(0.01 * layer.gradient, rel=0.3)
    assert [(each.node, each.units) for each in event.units] == [("n3", 16)]
    history = MetricHistory()
    history.add_all(trained.events)
    assert history.layers == trained.all(LayersMeasured)


def test_units_that_are_zero_on_all_images_are_counted(train_here, small_project, always):
    dead = ("dense", {"units": 8, "activation": "relu", "bias_initializer": "ones"})
    project = small_project(
        ("rescaling", {"scale": -1.0}), ("flatten", {}), ("relu", {}), dead,
        precision="float32", epochs=1,
    )  # fmt: skip
    (event,) = train_here(project).all(LayersMeasured)
    # All inputs are negative: ReLU cuts them all, and the layer behind it has its bias left.
    assert [(each.node, each.dead) for each in event.units] == [("n3", 64), ("n4", 0)]
