"""Our own training call under TensorFlow's real strategy for TPUs, traced without a TPU."""

from __future__ import annotations

from dataclasses import replace

import pytest
import tensorflow as tf

from tests.fake_tpu import PER_CORE, compile_on, fake_strategy, trace_evaluation, trace_training
from tests.proofs._tpu_projects import random_project
from tests.proofs.tpu_trace import failure
from workbench.templates import find_template

pytestmark = pytest.mark.worker

CORES = 8
NORM_SUMS = {"lenet5": 0, "cifar10_convnet": 4}
"""Of two normalizations that go by their part: a running mean and a variance each."""


@pytest.fixture(scope="module")
def strategy():
    return fake_strategy(tf, CORES)


def project_of(key, **recipe):
    project = find_template(key).project
    return replace(project, recipe=project.recipe.with_values(**recipe))


@pytest.fixture(scope="module")
def traced(strategy):
    """Gives plan and trace of a template's training; each is made once."""
    known = {}

    def get(key, **recipe):
        key_of_call = (key, *sorted(recipe.items()))
        if key_of_call not in known:
            compiled = compile_on(strategy, project_of(key, **recipe))
            known[key_of_call] = compiled.plan, trace_training(tf, compiled)
        return known[key_of_call]

    return get


PLAIN = {"optimizer": "sgd", "sync_batch_norm": "off"}


@pytest.mark.parametrize(
    ("key", "optimizer"),
    [("lenet5", "sgd"), ("lenet5", "lamb"), ("cifar10_convnet", "adam"), ("lenet5", "lars")],
)
def test_a_call_is_one_loop_around_one_part_for_all_cores(traced, key, optimizer):
    plan, trace = traced(key, optimizer=optimizer, sync_batch_norm="off")
    assert plan.precision == "bfloat16"
    assert not plan.xla
    assert trace.faults(CORES) == []
    # Exactly one sum a gradient, none is added up twice; and those of the normalizations.
    assert trace.inside["CrossReplicaSum"] == trace.num_learned + NORM_SUMS[key]
    assert {shape[0] for shape in trace.shapes} == {PER_CORE}
    assert not any("Conv" in op or "MatMul" in op for op in trace.outside)


def test_normalizing_by_the_whole_batch_sums_over_the_other_cores(traced):
    off, on = (
        traced("cifar10_convnet", optimizer="adam", sync_batch_norm=sync)[1]
        for sync in ("off", "on")
    )
    assert on.faults(CORES) == []
    # Each of two layers needs a mean and a variance on the way there, where the running ones
    # need one each; and the way back.
    assert on.inside["CrossReplicaSum"] > off.inside["CrossReplicaSum"]


def test_clipping_adds_up_the_gradient_of_the_whole_batch(traced):
    _, plain = traced("lenet5", **PLAIN)
    _, clipped = traced("lenet5", **PLAIN, clip_norm=1.0)
    # Some sums may be put together, but clipping cannot do without any.
    assert clipped.faults(CORES) == []
    assert clipped.inside["CrossReplicaSum"] > plain.inside["CrossReplicaSum"]


def test_validation_is_computed_on_the_cores_too(strategy):
    compiled = compile_on(strategy, project_of("lenet5", top_k=3))
    trace = trace_evaluation(tf, compiled)
    assert trace.faults(CORES) == []
    assert trace.inside["Conv2D"] == 2
    assert not any("Conv" in op or "MatMul" in op for op in trace.outside)


@pytest.mark.parametrize("number", [3, 4])
def test_random_networks_are_traced_alike(strategy, number):
    """More of them, and every optimizer: `packaging/prove.sh tpu_trace`."""
    _, project = random_project(number)
    assert failure(strategy, tf, project) == ""


def test_the_faults_are_seen(traced):
    """On one processor nothing of it is there."""
    one = tf.distribute.OneDeviceStrategy("/cpu:0")
    here = trace_training(tf, compile_on(one, project_of("lenet5"))).faults(CORES)
    assert len(here) == 4
    assert any("sums over the cores" in fault for fault in here)
    _, there = traced("lenet5", **PLAIN)
    assert there.faults(CORES) == []
    assert there.faults(CORES + 1) != []
