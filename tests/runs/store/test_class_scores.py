"""The probabilities of all classes that are kept with an evaluation."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.evaluation.confusion import Confusion
from workbench.errors import RunFolderError
from workbench.protocol.trained.evaluate import ClassScore, Evaluation, cells_of
from workbench.runs.store import image_scores
from workbench.runs.store.evaluation import (
    KeptEvaluation,
    keep_evaluation,
    read_class_scores,
    remove_evaluation,
)
from workbench.runs.store.image_scores import CLASS_SCORES_NAME, ClassScores
from workbench.runs.store.weights_file import read_arrays, write_arrays

SHARES = np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]], np.float32)
ROWS = ClassScores(SHARES, np.array([0, 1, 1]))
KEPT = KeptEvaluation(
    result=Evaluation(
        loss=0.1,
        accuracy=2 / 3,
        classes=["cat", "dog"],
        per_class=[
            ClassScore(name=name, precision=1, recall=1, f1=1, count=1) for name in ("cat", "dog")
        ],
        confusion=cells_of(Confusion.of_images(ROWS.actual, SHARES.argmax(axis=1), 2)),
    ),
    created=3.0,
)


def test_they_are_read_as_they_were_kept(run):
    assert read_class_scores(run, KEPT) is None
    keep_evaluation(run, KEPT, rows=ROWS)
    found = read_class_scores(run, KEPT)
    assert found.probabilities.tolist() == SHARES.tolist()
    assert found.actual.tolist() == [0, 1, 1]
    probability, is_right = found.answers()
    assert probability.tolist() == SHARES.max(axis=1).tolist()
    assert is_right.tolist() == [True, True, False]


def test_those_of_another_evaluation_do_not_count(run):
    keep_evaluation(run, KEPT, rows=ROWS)
    later = KeptEvaluation(result=KEPT.result, created=4.0)
    assert read_class_scores(run, later) is None
    keep_evaluation(run, later)
    assert not (run.path / CLASS_SCORES_NAME).exists()


def test_they_go_with_the_evaluation(run):
    keep_evaluation(run, KEPT, rows=ROWS)
    remove_evaluation(run, KEPT)
    assert not (run.path / CLASS_SCORES_NAME).exists()


def test_too_many_are_not_kept(run, monkeypatch):
    keep_evaluation(run, KEPT, rows=ROWS)
    monkeypatch.setattr(image_scores, "MOST_NUMBERS", 5)
    keep_evaluation(run, KEPT, rows=ROWS)
    assert read_class_scores(run, KEPT) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"probabilities": SHARES.astype(np.float64)},
        {"probabilities": SHARES[:2]},
        {"probabilities": np.full_like(SHARES, np.nan)},
        {"probabilities": SHARES * 2},
        {"probabilities": SHARES[:, ::-1]},
        {"actual": np.array([0, 1, 2], np.int32)},
        {"actual": np.zeros((3, 1), np.int32)},
        {"created": np.zeros(2)},
        {"more": np.zeros(2)},
    ],
)
def test_what_cannot_be_of_this_model_is_refused(run, changed):
    keep_evaluation(run, KEPT, rows=ROWS)
    path = run.path / CLASS_SCORES_NAME
    write_arrays(path, read_arrays(path) | changed)
    with pytest.raises(RunFolderError, match="damaged"):
        read_class_scores(run, KEPT)
