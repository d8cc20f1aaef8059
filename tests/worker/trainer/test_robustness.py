"""A training measures its project's robustness tests at its end, as the request does later."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.worker.conftest import ENDLESS
from workbench.alterations import SUITE_LEVELS, suite
from workbench.core.projects.project import RobustnessTest
from workbench.protocol.events import Batch, LogLine
from workbench.protocol.trained.robustness import MeasureRobustness
from workbench.runs.control import request_skip, request_stop
from workbench.runs.folder import create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.store.evaluation import read_robustness
from workbench.worker.trainer import after_training

pytestmark = pytest.mark.worker

CAMERA = RobustnessTest("Camera", {"noise": 20, "blur": 10})


def test_a_run_is_measured_on_the_tests_of_its_project(train_here, service, small_project):
    trained = train_here(replace(small_project(precision="float32"), robustness=(CAMERA,)))
    kept = read_robustness(trained.run)
    assert kept.checksum == trained.run.model_card().checksum
    assert kept.result.accuracy == trained.run.model_card().test.accuracy
    assert [case.level for case in kept.result.measured] == [0.5, 1.0] * 3
    answer = service.done(MeasureRobustness, model=str(trained.run.path))
    assert answer.measured == kept.result.measured
    found = service.done(MeasureRobustness, model=str(trained.run.path), is_suite=True, images=20)
    assert [case.level for case in found.measured] == [*SUITE_LEVELS] * len(suite())
    assert list(dict.fromkeys(case.test for case in found.measured)) == [*suite()]
    by_key: dict[str, list[float]] = {}
    for case in found.measured:
        (key,) = case.strengths
        by_key.setdefault(key, []).append(case.accuracy)
    means = [sum(each) / len(each) for each in by_key.values()]
    assert found.mean_accuracy == pytest.approx(sum(means) / len(means))
    assert len(by_key["brightness"]) == 10
    assert read_robustness(trained.run, is_suite=True).result.measured == found.measured
    again = read_robustness(trained.run)
    assert again.result.measured == kept.result.measured
    assert again.result.mean_accuracy is None


def test_a_test_of_another_version_is_a_warning(trainer, small_project):
    foggy = RobustnessTest("Foggy", {"fog": 3})
    trained = trainer(replace(small_project(epochs=1, precision="float32"), robustness=(foggy,)))
    finished = trained.finish()
    assert finished.outcome == "completed", finished.error
    assert any("Unknown alteration" in line.text for line in trained.all(LogLine))
    assert read_robustness(trained.run) is None


@pytest.mark.full
def test_a_stop_does_not_wait_for_it(trainer, small_project):
    trained = trainer(replace(small_project(**ENDLESS), robustness=(CAMERA,)))
    trained.wait_for(Batch)
    request_stop(trained.run)
    finished = trained.finish()
    assert finished.outcome == "stopped"
    assert finished.test is not None
    assert any("robustness was not measured" in line.text for line in trained.all(LogLine))
    assert read_robustness(trained.run) is None


def test_answers_that_are_not_kept_leave_the_test_and_what_follows(
    train_here, small_project, monkeypatch
):
    project = replace(small_project(epochs=1, precision="float32"), robustness=(CAMERA,))
    run = create_run(project)
    kept = after_training.scored_images

    def skip_first(*how):
        request_skip(run)
        return kept(*how)

    monkeypatch.setattr(after_training, "scored_images", skip_first)
    trained = train_here(project, run)
    skipped = [line.text for line in trained.all(LogLine) if line.text.startswith("Skipped")]
    assert skipped == ["Skipped: keeping the answers for the test images."]
    assert run.model_card().test is not None
    assert read_robustness(run) is not None


def test_a_fault_of_it_fails_no_training(train_here, small_project, monkeypatch):
    def fail(*_args, **_words):
        raise MemoryError("OOM when allocating")

    monkeypatch.setattr(after_training, "robustness_of", fail)
    project = replace(small_project(epochs=1, precision="float32"), robustness=(CAMERA,))
    trained = train_here(project)
    assert trained.run.model_card().test is not None
    assert read_robustness(trained.run) is None
    lines = [event for event in read_all(trained.run.events_path) if isinstance(event, LogLine)]
    assert any("OOM when allocating" in line.text for line in lines)
