"""Trainings on several replicas, selected by their target alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from workbench.core.projects.project import Choice
from workbench.protocol.events import EpochFinished, LogLine, RunFinished, RunStarted
from workbench.runs.control import request_pause
from workbench.runs.log.event_log import read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.start import start_trainer
from workbench.runs.state.preparing import read_speeds
from workbench.runs.store.weights_file import read_arrays

pytestmark = pytest.mark.worker

NETWORK = [
    ("random_flip", {}),
    ("rescaling", {}),
    ("conv2d", {"filters": 4}),
    ("batch_normalization", {}),  # its statistics are state that a resumed run validates with
    ("dropout", {"rate": 0.2}),
]


def on_two(project):
    return replace(project, target=Choice("virtual", {"replicas": 2}))


def curves_of(run):
    history = MetricHistory()
    history.add_all(read_all(run.events_path))
    epochs = [(e.epoch, e.loss, e.val_loss, e.val_accuracy) for e in history.epochs]
    return history.losses.tolist(), epochs


@pytest.mark.full
def test_a_paused_run_on_two_replicas_ends_as_if_it_had_not_been(trainer, small_project):
    recipe = {
        "epochs": 4,
        "steps_per_epoch": 150,
        "schedule": "cosine",
        "validation": "split",
        "learning_rate": 0.01,
        "ema_decay": 0.9,
        "batch_size": 51,
        "sync_batch_norm": "off",
    }
    speeds = read_speeds()
    whole, paused = (trainer(on_two(small_project(*NETWORK, **recipe))) for _ in range(2))
    paused.wait_for(EpochFinished)
    request_pause(paused.run)
    assert paused.wait_for(RunFinished)[0].is_paused
    paused.wait_for_end()
    paused.pid = start_trainer(paused.run, resume=True)
    last = paused.wait_for(RunFinished, count=2)[-1]
    whole.finish()

    first, second = paused.all(RunStarted)
    assert (first.target, first.replicas, first.batch_size) == ("virtual", 2, 50)
    assert first.per_core_batch == 25
    warnings = [event.text for event in whole.all(LogLine) if event.level == "warning"]
    assert any(text.startswith("Batch not divisible by the replicas.") for text in warnings)
    assert (second.replicas, second.bit_exact) == (2, True)
    assert second.resumed_at_step >= 150
    assert last.outcome == "completed"
    assert read_speeds() == speeds == []  # nothing is predicted from them
    assert curves_of(whole.run) == curves_of(paused.run)
    left, right = read_arrays(whole.run.weights_path), read_arrays(paused.run.weights_path)
    for name in left:
        np.testing.assert_array_equal(left[name], right[name])


def answer_of(script, *arguments):
    """What a script in a process of its own prints as JSON."""
    here = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(here.parents[1]), "CUDA_VISIBLE_DEVICES": "-1"}
    answer = subprocess.run(
        [sys.executable, str(here / script), *arguments],
        env=environment, capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr[-3000:]
    return json.loads(answer.stdout)


@pytest.mark.parametrize("replicas", [1, 4])
def test_an_iterator_may_be_deleted_while_it_fetches(replicas):
    times = 50
    seen = answer_of("iterators_script.py", str(replicas), str(times))
    assert seen == {"rows": 3 * times * 8 // replicas, "is_distributed": False}


@pytest.fixture(scope="module")
def compared():
    """Case -> what one device made of it, and what several replicas did."""
    cases = answer_of("replicas_script.py", "2")
    assert all(several["replicas"] == 2 for _, several in cases.values())
    return cases


@pytest.mark.parametrize("case", ["mixed", "lamb", "muon", "synchronized"])
def test_several_replicas_train_as_one_device_does(compared, case):
    """The seam that a TPU uses: same code, eight cores instead of one."""
    one, several = compared[case]
    assert (one["replicas"], one["batch"]) == (1, several["batch"])
    assert several["losses"] == pytest.approx(one["losses"], rel=1e-4)
    assert several["accuracies"] == pytest.approx(one["accuracies"])
    assert several["scores"] == pytest.approx(one["scores"], rel=1e-4)
    for ours, theirs in zip(several["weights"], one["weights"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
    assert several["top_k"] == pytest.approx(one["top_k"])
    assert several["confusion"] == one["confusion"]
    assert several["spread"] == 0


def test_every_picture_is_validated_once_though_their_number_is_odd(compared):
    assert {result["count"] for results in compared.values() for result in results} == {151}


def test_several_replicas_go_on_from_a_state_bit_for_bit(compared):
    assert all(result["is_resumed_exactly"] for results in compared.values() for result in results)


@pytest.mark.parametrize("case", ["normalized", "random"])
def test_all_replicas_hold_the_same_values_though_they_compute_different_things(compared, case):
    one, several = compared[case]
    assert several["spread"] == 0
    assert several["losses"] != pytest.approx(one["losses"], rel=1e-4)


# what one device cannot show -------------------------------------------------------------


@pytest.fixture(scope="module")
def rules():
    """What `replica_rules_script.py` found, for 7 and for 8 replicas."""
    return answer_of("replica_rules_script.py")


@pytest.mark.parametrize("replicas", ["7", "8"])
def test_each_replica_draws_its_own_masks_and_the_first_draws_those_of_one_device(rules, replicas):
    for name, (alone, parts) in rules[replicas]["masks"].items():
        assert len(parts) == int(replicas), name
        assert len({tuple(mask) for mask in parts}) == len(parts), name
        assert parts[0] == alone, name


@pytest.mark.parametrize("replicas", ["7", "8"])
def test_every_picture_counts_once_in_a_validation_and_none_twice(rules, replicas):
    assert {count for count, _ in rules[replicas]["counted"]} == {5, 97, 151}
    for count, times_of_each in rules[replicas]["counted"]:
        assert times_of_each == [1] * count  # a picture is its own class here


@pytest.mark.parametrize("replicas", ["7", "8"])
def test_a_trained_normalization_predicts_alike_on_all_replicas_and_reloaded(rules, replicas):
    """Of parts on seven replicas, synchronized on eight."""
    found = rules[replicas]["predictions"]
    assert found["has_learned_statistics"]
    assert found["between_replicas"] == 0
    assert found["reloaded"] < 1e-6
