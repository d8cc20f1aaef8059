"""The finders in a real service worker: what they try, suggest and refuse."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.core.projects.project_file import project_text
from workbench.protocol.find import (
    BatchSizeFound,
    BatchSizeTried,
    FindBatchSize,
    FindLearningRate,
    LearningRateFound,
    LearningRateTrial,
    LearningRateTried,
)
from workbench.protocol.messages import Failed, Progress
from workbench.worker.requests import find_batch_size as find_batch
from workbench.worker.requests.benchmark_setup import BenchmarkSetup

pytestmark = pytest.mark.worker


def _answers(service, request, **values):
    answers = service.answers(request, **values)
    return [answer for answer in answers if not isinstance(answer, Progress)]


def test_a_rate_that_is_too_low_is_replaced_by_one_that_trains(service, small_project):
    text = project_text(small_project(learning_rate=1e-6, epochs=10))
    *tried, found = _answers(service, FindLearningRate, project=text)
    assert isinstance(found, LearningRateFound), found
    swept = [answer for answer in tried if isinstance(answer, LearningRateTried)]
    rates = [rate for part in swept for rate in part.rates]
    losses = [loss for part in swept for loss in part.losses]
    assert rates == sorted(rates)
    assert len(rates) == len(losses) > 20
    assert rates[0] == pytest.approx(1e-7)
    # Untrained, three classes: ln 3.
    assert losses[0] == pytest.approx(1.1, abs=0.6)
    trials = [answer for answer in tried if isinstance(answer, LearningRateTrial)]
    first, longest = trials[0], max(trial.steps for trial in trials)
    assert first.rate == found.present == 1e-6
    decisive = {trial.rate: trial.accuracy for trial in trials if trial.steps == longest}
    assert decisive[found.suggested] == max(decisive.values()) > 0.95
    assert first.accuracy < 0.7
    assert found.verdict == "change"
    assert found.good[0] <= found.suggested <= found.good[-1]
    assert f"{found.suggested:g} is better than your rate 1e-06" in found.words


def test_a_rate_that_trains_well_is_kept(service, small_project):
    text = project_text(small_project(learning_rate=0.05, epochs=10))
    *_, found = _answers(service, FindLearningRate, project=text)
    assert (found.verdict, found.suggested) == ("keep", 0.05)
    assert found.words.startswith("Your rate 0.05 is ")
    assert "; keep it. 0.05: " in found.words


def test_trials_pass_through_the_schedule_and_the_scaling_of_the_recipe(service, small_project):
    recipe = {"rate_scaling": "linear", "rate_base_batch": 5000, "schedule": "one_cycle"}
    # A hundredth of the field's value is what each step is made with.
    text = project_text(small_project(learning_rate=5.0, epochs=10, **recipe))
    *tried, found = _answers(service, FindLearningRate, project=text)
    trials = [answer for answer in tried if isinstance(answer, LearningRateTrial)]
    assert trials[0].rate == 5.0
    assert (found.verdict, found.suggested) == ("keep", 5.0), trials


def test_labels_that_mean_nothing_are_no_reason_to_suggest_a_rate(
    service, small_project, stripes_npz, tmp_path
):
    arrays = dict(np.load(stripes_npz))
    random = np.random.default_rng(5)
    arrays |= {key: random.permutation(arrays[key]) for key in ("y_train", "y_test")}
    np.savez(tmp_path / "shuffled.npz", **arrays)
    text = project_text(small_project(data=tmp_path / "shuffled.npz", epochs=2))
    *_, found = _answers(service, FindLearningRate, project=text)
    assert (found.verdict, found.suggested, found.good) == ("unknown", None, [])
    assert "heck input scaling and labels." in found.words


def test_batch_sizes_are_tried_up_to_the_number_of_pictures(service, small_project):
    text = project_text(small_project())
    *tried, found = _answers(service, FindBatchSize, project=text, lowest=256, highest=4096)
    assert isinstance(found, BatchSizeFound), found
    assert [answer.size for answer in tried if answer.times == 1] == [256, 512]
    assert all(answer.images_per_second > 0 and answer.memory_bytes > 1e8 for answer in tried)
    assert found.largest == 512
    assert found.suggested <= found.fastest
    assert len(found.changes) == 2
    assert found.images_per_epoch == found.steps_per_epoch * found.suggested <= 640
    assert found.learning_rate == 0.05


def test_a_batch_that_cannot_fit_is_reported_and_not_tried(service, small_project):
    conv = {"filters": 8192, "kernel_size": (1, 1), "padding": "same"}
    huge = small_project(("conv2d", conv), ("up_sampling2d", {"size": (32, 32)}))
    text = project_text(huge)
    tried, found = _answers(service, FindBatchSize, project=text, lowest=512)
    assert "available" in tried.problem
    assert found.largest == 0
    assert "512" in found.words


class FullTrial(BenchmarkSetup):
    """Has no memory left to build in."""

    def compiled(self, **recipe):
        raise MemoryError(f"Unable to allocate 9 GiB for {recipe}")


def test_a_batch_that_runs_out_of_memory_while_it_is_built_is_reported(small_project):
    job = SimpleNamespace(id=5)
    tried = find_batch._try(job, FullTrial(job, small_project(), None), 64)
    assert tried == BatchSizeTried(id=5, size=64, problem="runs out of memory")
    words = find_batch._found(job, [tried], {}, FullTrial(job, small_project(), None)).words
    assert words == "Not even batch size 64 fits: it runs out of memory."


SPEEDS = {8: [900.0] * 2, 16: [1700.0] * 2, 32: [500.0, 3100.0, 3000.0], 64: [5000.0] * 3}
"""Measurements of each size, one after the other; the first of 32 was disturbed."""


def disturbed(monkeypatch, small_project, speeds):
    """All answers to a search in which sizes are as fast as `speeds`, in the order they are
    measured in, and the sizes in that order.
    """
    sent, order = [], []

    def measured(_job, _trial, size):
        order.append(size)
        return speeds[size][order.count(size) - 1], 10**9

    job = SimpleNamespace(
        id=7, send=sent.append, check_cancelled=lambda: None, progress=lambda *_: None
    )
    data = SimpleNamespace(train=range(640))
    monkeypatch.setattr(find_batch, "_measured", measured)
    monkeypatch.setattr(find_batch, "set_up", lambda *_: BenchmarkSetup(job, small_project(), data))
    request = FindBatchSize(id=7, project="", lowest=min(speeds), highest=max(speeds))
    found = find_batch.find_batch_size(job, request)
    return [*sent, found], order


def test_sizes_whose_speeds_contradict_each_other_are_measured_again_in_turn(
    monkeypatch, small_project
):
    (*tried, found), order = disturbed(monkeypatch, small_project, SPEEDS)
    assert order == [8, 16, 32, 64, 8, 16, 32, 64, 32, 64]
    last = {answer.size: answer for answer in tried}
    assert last[32].times == 3
    assert last[32].images_per_second == 3000.0
    assert last[32].spread == pytest.approx(1 - 500 / 3100, abs=1e-3)
    assert (found.suggested, found.is_uncertain) == (64, False)


def test_speeds_that_still_contradict_each_other_are_called_uncertain(monkeypatch, small_project):
    speeds = {8: [900.0] * 3, 16: [300.0, 350.0, 320.0], 32: [2000.0] * 3}
    (*tried, found), order = disturbed(monkeypatch, small_project, speeds)
    assert order == [8, 16, 32, 8, 16, 32, 8, 16, 32]
    assert max(answer.times for answer in tried) == 3
    assert found.is_uncertain
    assert "computer is busy" in found.words


def test_a_project_that_cannot_be_trained_is_refused_in_words(service, small_project):
    text = project_text(small_project(classes=5))
    *_, answer = service.answers(FindLearningRate, project=text)
    assert isinstance(answer, Failed)
    assert "5 outputs" in answer.error.what
