"""Which layer went wrong first, in real runs that blow up."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.protocol.events import Batch, PhaseChanged
from workbench.runs.folder import create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.state.outcome import outcome_of
from workbench.runs.store.checkpoint import read_checkpoint
from workbench.worker.process.failure import DivergedError
from workbench.worker.trainer.epoch import culprit_of_batch, culprit_of_weights

pytestmark = pytest.mark.worker


LINEAR = [("conv2d", {"filters": 4}) for _ in range(4)]
"""Layers without limits: where steps are too large, their outputs grow until they overflow."""


def first_bad_step(events):
    """The first step without a finite loss, from 1."""
    return [loss for batch in events for loss in batch.losses].index(None) + 1


def test_the_layer_that_overflows_is_named(trainer, small_project):
    project = small_project(
        *LINEAR[:3], optimizer="sgd", learning_rate=50.0, epochs=30, precision="float32"
    )
    started = trainer(project)
    finished = started.finish()
    assert finished.outcome == outcome_of(started.run).kind == "failed"
    assert f"diverged: the loss is not finite at step {first_bad_step(started.all(Batch))}; " in (
        finished.error.what
    )
    assert "not finite is “" in finished.error.what or "are the outputs of “" in finished.error.what
    assert any(event.phase == "diagnosing" for event in started.all(PhaseChanged))


def test_it_is_found_from_the_last_checkpoint(train_here, small_project):
    """Weight decay at a rate above 2 throws weights over zero, further each time: that rate is
    reached after 30 epochs, when checkpoints have long been kept.
    """
    project = small_project(
        ("rescaling", {}), *LINEAR[:2], optimizer="sgd", learning_rate=20.0, epochs=310,
        momentum=0.0, warmup_epochs=300.0, weight_decay=1.0, precision="float32", xla="off",
    )  # fmt: skip
    run = create_run(project)
    with pytest.raises(DivergedError) as diverged:
        train_here(project, run)
    # A sum of finite losses may overflow before any output does: then the layer with the
    # largest values is named.
    what = diverged.value.what
    assert "not finite is “" in what or "are the outputs of “" in what
    checkpoint = read_checkpoint(run)
    assert checkpoint is not None
    events = [event for event in read_all(run.events_path) if isinstance(event, Batch)]
    assert 0 < checkpoint.state.step < first_bad_step(events)


@pytest.fixture(scope="module")
def tf():
    import tensorflow as tf

    return tf


def test_batches_and_weights_name_their_layer(tf):
    from tests.worker.recipe_loops import small

    built = small().built
    pictures = tf.ones((2, 8, 8, 1))
    assert culprit_of_weights(built) is None
    assert "loss itself" in culprit_of_batch(built, pictures).words
    bad = np.ones((2, 8, 8, 1), np.float32)
    bad[1, 2, 3, 0] = np.inf
    assert "input pipeline" in culprit_of_batch(built, tf.constant(bad)).words
    dense = built.model.layers[-1]
    dense.bias.assign([0.0, np.nan, 0.0])
    assert culprit_of_weights(built).layer == dense.name
    dense.bias.assign([0.0, 0.0, 0.0])
    conv = next(layer for layer in built.model.layers if "kernel" in dir(layer))
    conv.kernel.assign(np.full(conv.kernel.shape, 3e38, np.float32))
    culprit = culprit_of_batch(built, pictures)
    assert culprit.layer == conv.name
    assert "first layer whose output is not finite" in culprit.words
