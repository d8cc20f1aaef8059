"""The report of a real run: made by the service worker, from what was kept and what is still there."""

from __future__ import annotations

import numpy as np
import pytest

from tests.report.documents import Page
from workbench.inference.runner import ImageResults
from workbench.protocol.export import MakeReport
from workbench.protocol.messages import Done, Failed, Progress
from workbench.runs.store.evaluation import EVALUATION_NAME, known_scores
from workbench.worker.requests.report import MOST_RIGHT, MOST_WRONG, choose

pytestmark = pytest.mark.worker


@pytest.fixture
def worker(service):
    return service.call


@pytest.fixture
def trained(small_project, trainer):
    """A run of stripes that ended with its test; its learning rate leaves mistakes."""
    started = trainer(small_project(epochs=1, learning_rate=0.001))
    started.finish()
    return started.run


def test_a_trained_run_is_reported_with_what_was_kept(trained, worker, tmp_path):
    words = report(worker, trained, tmp_path / "a.html")
    page = Page((tmp_path / "a.html").read_bytes())
    right = known_scores(trained).kept.result.accuracy
    assert f"Of 100 test images it classifies {right * 100:.1f}% correctly" in page.text
    wrong = min(MOST_WRONG, round(100 * (1 - right)))
    assert 2 * wrong < len(page.all("img")) <= 2 * (wrong + MOST_RIGHT)  # each with its heat map
    assert "SmoothGrad" in page.text  # the network has no convolution
    assert len(page.all("svg")) == 3
    assert "Evaluating the test images" not in words


def test_without_kept_scores_the_images_are_scored(trained, worker, tmp_path):
    first, second = tmp_path / "a.html", tmp_path / "b.html"
    report(worker, trained, first)
    (trained.path / EVALUATION_NAME).unlink()
    assert "Evaluating the test images" in report(worker, trained, second)
    assert images(second) == images(first) != []


def test_with_the_images_gone_the_figures_stay(trained, worker, tmp_path, stripes_npz):
    hidden = stripes_npz.with_suffix(".hidden")
    stripes_npz.rename(hidden)
    try:
        report(worker, trained, tmp_path / "a.html")
    finally:
        hidden.rename(stripes_npz)
    page = Page((tmp_path / "a.html").read_bytes())
    assert page.all("img") == []
    assert len(page.all("svg")) == 3  # the confusion matrix was kept
    assert "No test images are shown." in page.text


def test_another_ending_is_refused_and_nothing_is_written(trained, worker, tmp_path):
    request = MakeReport(id=1, run=str(trained.path), path=str(tmp_path / "a.docx"))
    *_, answer = worker.answers(request)
    assert isinstance(answer, Failed)
    assert "a.docx" in answer.error.received
    assert list(tmp_path.iterdir()) == []


def test_the_most_confident_mistakes_come_first_and_then_all_classes():
    truth = np.array([0, 0, 1, 1, 2, 2])
    predicted = np.array([0, 1, 1, 0, 2, 2])
    probability = np.array([0.9, 0.6, 0.9, 0.8, 0.9, 0.9], np.float32)
    zeros = np.zeros(6)
    results = ImageResults(
        predicted=predicted,
        probability=probability,
        losses=zeros,
        rank=zeros.astype(np.int64),
        raw=probability,
        raw_losses=zeros,
        distances=zeros,
    )
    chosen = choose(truth, results)
    assert chosen[:2] == [3, 1]
    assert [truth[place] for place in chosen[2:5]] == [0, 1, 2]
    assert sorted(chosen) == [0, 1, 2, 3, 4, 5]


def report(worker, run, path):
    """Writes a report; the words of its progress."""
    answers = list(worker.answers(MakeReport(id=1, run=str(run.path), path=str(path))))
    assert isinstance(answers[-1], Done), answers[-1]
    assert answers[-1].path == str(path)
    return [answer.text for answer in answers if isinstance(answer, Progress)]


def images(path):
    return [image["src"] for image in Page(path.read_bytes()).all("img")]
