"""Frozen layers: their outputs computed once, and the phase in which some of them learn."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from workbench.core.network.graph import Graph
from workbench.core.projects.project import Choice
from workbench.protocol.events import (
    CheckpointKept,
    EpochFinished,
    LogLine,
    RunFinished,
    RunStarted,
    TimeSpent,
)
from workbench.runs.control import request_pause
from workbench.runs.start import start_trainer
from workbench.runs.state.preparing import read_speeds
from workbench.runs.store.checkpoint import read_checkpoint
from workbench.runs.store.weights_file import read_arrays

pytestmark = pytest.mark.worker

AUGMENTED = [("random_translation", {"height_factor": 0.1})]
BODY = [
    ("rescaling", {}),
    ("conv2d", {"filters": 4, "name": "frozen"}),
    ("batch_normalization", {"name": "frozen"}),
    ("relu", {}),
    ("conv2d", {"filters": 4, "name": "tuned"}),
    ("dropout", {"rate": 0.2}),
]
RECIPE = {"validation": "split", "validation_share": 0.2, "learning_rate": 0.01}
TUNED = {**RECIPE, "epochs": 6, "fine_tuning_after": 3, "schedule": "cosine"}
EARLY = {
    **RECIPE, "epochs": 12, "fine_tuning_after": 8, "schedule": "cosine", "learning_rate": 1e-30,
    "fine_tuning_rate": 0.01, "keep_by": "val_loss", "early_stopping_patience": 2,
}  # fmt: skip
"""The head's steps are lost in rounding: early stopping ends it after three of eight epochs."""


@pytest.fixture
def frozen_project(small_project):
    """A project whose first convolution never learns and whose second is fine-tuned."""

    def make(*, augment=False, **recipe):
        body = [(kind, {k: v for k, v in params.items() if k != "name"}) for kind, params in BODY]
        project = small_project(*(AUGMENTED if augment else ()), *body, **{**RECIPE, **recipe})
        graph = project.graph
        offset = 2 if augment else 1
        for number, (_, params) in enumerate(BODY, offset):
            training = {"frozen": "never", "tuned": "fine_tuning"}.get(params.get("name"), "always")
            graph = graph.with_node(replace(graph.nodes[f"n{number}"], training=training))
        return replace(project, graph=graph)

    return make


def without_dropout(project):
    """What it draws depends on all steps before."""
    nodes = [
        replace(node, params={**node.params, "rate": 0.0}) if node.kind == "dropout" else node
        for node in project.graph.nodes.values()
    ]
    return replace(project, graph=Graph.of(nodes, project.graph.edges))


def curves_of(trained):
    return [
        (e.epoch, e.step, e.loss, e.accuracy, e.val_loss, e.val_accuracy, e.learning_rate)
        for e in trained.all(EpochFinished)
    ]


def weights_of(trained):
    return read_arrays(trained.run.weights_path)


def changed(before, after):
    """Names of the layers whose weights differ."""
    names = {name.rpartition("/")[0] for name in before if (before[name] != after[name]).any()}
    return {name.rstrip("_0123456789") for name in names}


def log_of(trained):
    return " ".join(event.text for event in trained.all(LogLine))


def test_training_on_features_is_training_on_images(train_here, frozen_project):
    recipe = {"epochs": 3, "precision": "float32", "xla": "off"}
    whole = train_here(frozen_project(**recipe, feature_cache="off"))
    cached = train_here(frozen_project(**recipe))
    np.testing.assert_allclose(
        [values[2:4] for values in curves_of(cached)],
        [values[2:4] for values in curves_of(whole)],
        rtol=1e-4,
    )
    for name, values in weights_of(whole).items():
        np.testing.assert_allclose(weights_of(cached)[name], values, rtol=1e-3, atol=1e-5)
    assert "Features of the frozen layers: 600" in log_of(cached)
    assert "Features" not in log_of(whole)
    assert cached.training.test.count == 100  # by the whole network
    assert cached.training.test.accuracy == whole.training.test.accuracy
    assert cached.all(TimeSpent)[-1].features_s > 0 == whole.all(TimeSpent)[-1].features_s


def test_only_layers_that_learn_change_in_each_phase(train_here, frozen_project):
    start = weights_of(train_here(frozen_project(epochs=1, learning_rate=1e-12)))
    head = weights_of(train_here(frozen_project(epochs=3)))
    both = train_here(frozen_project(**TUNED))
    assert changed(start, head) == {"dense"}
    assert changed(head, weights_of(both)) == {"dense", "conv2d"}
    frozen = [name for name in start if name.startswith(("conv2d_2/", "batch_normalization"))]
    assert frozen
    for name in frozen:
        np.testing.assert_array_equal(start[name], weights_of(both)[name])
    rates = [values[-1] for values in curves_of(both)]
    assert max(rates[3:]) <= 0.0001 < min(rates[:2])
    assert "Fine-tuning: 1 more layer" in log_of(both)


def test_the_head_ends_as_the_first_phase_of_both(train_here, frozen_project):
    head = train_here(frozen_project(epochs=3, schedule="cosine"))
    both = train_here(frozen_project(**TUNED))
    assert curves_of(both)[:3] == curves_of(head)


def test_early_stopping_of_the_head_goes_on_with_fine_tuning(train_here, frozen_project):
    """As if the head, which learns nothing, had been trained to its end."""
    early = train_here(without_dropout(frozen_project(**EARLY)))
    assert [values[0] for values in curves_of(early)] == [1, 2, 3, 9, 10, 11, 12]
    assert "for 2 epochs. Best epoch: 1. Fine-tuning begins, with epoch 9." in log_of(early)
    whole = without_dropout(frozen_project(**{**EARLY, "early_stopping_patience": None}))
    whole = train_here(whole)
    assert curves_of(early)[3:] == curves_of(whole)[8:]
    for name, values in weights_of(whole).items():
        np.testing.assert_array_equal(weights_of(early)[name], values)
    for trained in (early, whole):
        assert trained.training.is_completed
        assert trained.training.counters.epochs_done == 12
        assert trained.training.kept.epoch == 12


def test_the_speeds_of_a_head_on_features_and_of_fine_tuning_are_kept(train_here, frozen_project):
    def speeds_of(**recipe):
        trained = train_here(frozen_project(**recipe))
        return trained, [run for run in read_speeds() if run.run == trained.run.name]

    (whole,) = speeds_of(epochs=2, feature_cache="off")[1]
    assert (whole.is_on_features, whole.num_copies, whole.ahead_s) == (False, 0, 0.0)
    first, (head,) = speeds_of(epochs=2, seed=31)
    assert head.is_on_features
    assert head.numbers < whole.numbers
    assert (head.num_train, head.num_validation, head.num_test) == (480, 120, 100)
    assert head.ahead_numbers > 0
    spent = first.all(TimeSpent)[-1].features_s
    epochs_s = sum(epoch.seconds for epoch in first.all(EpochFinished))
    assert 0 < head.other_s < first.training.counters.seconds - epochs_s - spent + 0.1
    both, (of_head, tuned) = speeds_of(**TUNED)
    assert (of_head.is_on_features, tuned.is_on_features) == (True, False)
    assert (of_head.data, of_head.num_copies) == (head.data, 1)
    assert tuned.is_partly_frozen
    # Two of its three epochs count: the first one warms up.
    speeds = [epoch.images_per_second for epoch in both.all(EpochFinished)[-2:]]
    assert tuned.images_per_second == pytest.approx(sum(speeds) / 2)
    assert tuned.numbers < whole.numbers  # what is still frozen is not computed in its steps


def test_early_stopping_ends_fine_tuning_and_the_training(train_here, frozen_project):
    trained = train_here(frozen_project(**{**EARLY, "fine_tuning_rate": 1e-30}))
    assert [values[0] for values in curves_of(trained)] == [1, 2, 3, 9, 10, 11]
    assert trained.training.is_completed


def test_the_best_epoch_is_that_of_both_phases(train_here, frozen_project):
    recipe = {**TUNED, "keep": "best", "keep_by": "val_loss", "fine_tuning_rate": 1e-30}
    trained = train_here(frozen_project(**recipe))
    lowest = min(curves_of(trained), key=lambda values: values[4])
    assert trained.training.kept.epoch == lowest[0] <= 3


@pytest.mark.full_but("False-1-planned")
@pytest.mark.parametrize("recipe", [TUNED, EARLY], ids=["planned", "early"])
@pytest.mark.parametrize(("augment", "epochs"), [(False, 1), (True, 3), (True, 4)])
def test_a_run_killed_in_either_phase_ends_as_if_it_had_not_been(
    trainer, train_here, frozen_project, recipe, epochs, *, augment
):
    """Also where the phases meet, from the checkpoint of the first."""
    recipe = {**recipe, "steps_per_epoch": 40}
    paused = trainer(frozen_project(augment=augment, **recipe))
    paused.wait_for(EpochFinished, count=epochs)
    if epochs == 3:
        paused.wait_for(CheckpointKept)  # it is written in the background
        os.kill(paused.pid, signal.SIGKILL)
    else:
        request_pause(paused.run)
        paused.wait_for(RunFinished)
    paused.wait_for_end()
    done = read_checkpoint(paused.run).state.epochs_done
    assert done >= 1
    paused.pid = start_trainer(paused.run, resume=True)
    paused.wait_for(RunStarted, count=2)
    while not (ended := paused.all(RunFinished)) or ended[-1].outcome != "completed":
        paused.wait_for(RunFinished, count=len(ended) + 1)
    paused.wait_for_end()
    assert paused.all(RunStarted)[-1].bit_exact is True
    whole = train_here(frozen_project(augment=augment, **recipe))
    last = {event.epoch: event for event in paused.all(EpochFinished)}
    resumed = [
        (e.epoch, e.step, e.loss, e.accuracy, e.val_loss, e.val_accuracy, e.learning_rate)
        for _, e in sorted(last.items())
    ]
    assert resumed == curves_of(whole)
    left, right = weights_of(whole), read_arrays(paused.run.weights_path)
    for name, values in left.items():
        np.testing.assert_array_equal(values, right[name])
    assert paused.all(RunFinished)[-1].test == whole.training.test


def test_features_are_computed_once(train_here, frozen_project):
    first = log_of(train_here(frozen_project(epochs=1)))
    second = log_of(train_here(frozen_project(epochs=1, seed=7, learning_rate=0.1)))
    assert "cached" not in first
    assert "600 of them cached" in second


def test_with_augmentation_the_epochs_use_several_copies(train_here, frozen_project):
    """Copies differ, each is cached, and images that are validated on are not augmented."""
    recipe = {"epochs": 4, "augmented_copies": 3, "precision": "float32"}
    first = train_here(frozen_project(augment=True, **recipe))
    again = train_here(frozen_project(augment=True, **recipe))
    plain = train_here(frozen_project(**recipe))
    assert "1,560 with" in log_of(first)
    assert "1,560 of them cached" in log_of(again)
    assert curves_of(first) == curves_of(again)
    assert curves_of(first)[0][2] != curves_of(plain)[0][2]


@pytest.mark.full
def test_replicas_train_on_the_same_features(trainer, train_here, frozen_project):
    """Two on this computer; each sees its half of a batch."""
    recipe = {**TUNED, "precision": "float32", "xla": "off"}
    project = without_dropout(frozen_project(**recipe))
    alone = train_here(project)
    both = trainer(replace(project, target=Choice("virtual", {"replicas": 2})))
    assert both.finish().outcome == "completed"
    assert "Features of the frozen layers: 600" in log_of(both)
    np.testing.assert_allclose(
        [values[2:4] for values in curves_of(both)],
        [values[2:4] for values in curves_of(alone)],
        rtol=1e-3,
    )


def test_mixtures_need_the_images_in_each_step(train_here, frozen_project):
    trained = train_here(frozen_project(epochs=1, mixing="mixup"))
    assert "Features" not in log_of(trained)
