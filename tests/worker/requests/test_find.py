"""The finders in a real service worker: what they try, suggest and refuse."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from workbench.core.projects.project_file import project_text
from workbench.protocol import messages as m
from workbench.worker.requests import find_batch_size as find_batch
from workbench.worker.requests.benchmark_setup import BenchmarkSetup

pytestmark = pytest.mark.worker


def test_a_learning_rate_is_found_where_the_loss_falls(service, small_project):
    text = project_text(small_project())
    *tried, found = [
        answer
        for answer in service.answers(m.FindLearningRate, project=text, steps=80)
        if not isinstance(answer, m.Progress)
    ]
    assert isinstance(found, m.LearningRateFound), found
    rates = [rate for part in tried for rate in part.rates]
    losses = [loss for part in tried for loss in part.losses]
    assert rates == sorted(rates)
    assert len(rates) == len(losses) > 20
    assert rates[0] == pytest.approx(1e-6)
    # Untrained, three classes: ln 3; the sweep has learnt something on its way.
    assert losses[0] == pytest.approx(1.1, abs=0.6)
    assert min(loss for loss in losses if loss is not None) < 0.7 * losses[0]
    assert 1e-4 < found.suggested <= 1


def test_batch_sizes_are_tried_up_to_the_number_of_pictures(service, small_project):
    text = project_text(small_project())
    *tried, found = [
        answer
        for answer in service.answers(m.FindBatchSize, project=text, lowest=256, highest=4096)
        if not isinstance(answer, m.Progress)
    ]
    assert isinstance(found, m.BatchSizeFound), found
    assert [answer.size for answer in tried] == [256, 512]
    assert all(answer.images_per_second > 0 and answer.memory_bytes > 1e8 for answer in tried)
    assert found.largest == 512
    assert found.suggested <= found.fastest


def test_a_batch_that_cannot_fit_is_reported_and_not_tried(service, small_project):
    conv = {"filters": 8192, "kernel_size": (1, 1), "padding": "same"}
    huge = small_project(("conv2d", conv), ("up_sampling2d", {"size": (32, 32)}))
    text = project_text(huge)
    tried, found = [
        answer
        for answer in service.answers(m.FindBatchSize, project=text, lowest=512)
        if not isinstance(answer, m.Progress)
    ]
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
    assert tried == m.BatchSizeTried(id=5, size=64, problem="runs out of memory")
    words = find_batch._found(job, [tried]).words
    assert words == "Not even batch size 64 fits: it runs out of memory."


def test_a_project_that_cannot_be_trained_is_refused_in_words(service, small_project):
    text = project_text(small_project(classes=5))
    *_, answer = service.answers(m.FindLearningRate, project=text)
    assert isinstance(answer, m.Failed)
    assert "5 outputs" in answer.error.what
