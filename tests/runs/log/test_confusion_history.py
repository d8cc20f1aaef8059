"""Confusion matrices of a run's epochs: kept, cut, and read from files in any state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.errors import SaveError
from workbench.runs.log.confusion_history import (
    NAME,
    append_confusion,
    read_class_accuracy,
    read_confusion,
    truncate_confusions,
)


def matrix(number, classes=3):
    return np.random.default_rng(number).integers(0, 2**32, (classes, classes), dtype=np.uint32)


def test_what_is_kept_is_read_back(run):
    assert len(read_class_accuracy(run)) == 0
    assert read_confusion(run, 1) is None
    assert read_class_accuracy(run).shape == (0, 0)
    for epoch in range(1, 6):
        append_confusion(run, epoch, matrix(epoch))
    assert len(read_class_accuracy(run)) == 5
    for epoch in range(1, 6):
        assert np.array_equal(read_confusion(run, epoch), matrix(epoch))
    assert read_confusion(run, 0) is None
    assert read_confusion(run, 6) is None


def test_a_resumed_run_replaces_what_it_trains_again(run):
    for epoch in range(1, 6):
        append_confusion(run, epoch, matrix(epoch))
    truncate_confusions(run, 3)
    assert len(read_class_accuracy(run)) == 3
    append_confusion(run, 3, matrix(33))
    append_confusion(run, 4, matrix(44))
    assert len(read_class_accuracy(run)) == 4
    assert np.array_equal(read_confusion(run, 2), matrix(2))
    assert np.array_equal(read_confusion(run, 3), matrix(33))
    truncate_confusions(run, 9)
    assert len(read_class_accuracy(run)) == 4


def test_class_accuracy_is_the_share_of_each_true_class(run):
    append_confusion(run, 1, np.array([[3, 1, 0], [0, 0, 0], [5, 0, 5]], np.uint32))
    append_confusion(run, 2, np.array([[4, 0, 0], [0, 0, 0], [0, 0, 10]], np.uint32))
    accuracy = read_class_accuracy(run)
    assert accuracy[:, [0, 2]].tolist() == [[0.75, 0.5], [1.0, 1.0]]
    assert np.isnan(accuracy[:, 1]).all()


def test_an_epoch_that_was_left_out_is_empty(run):
    append_confusion(run, 3, matrix(3))
    assert not read_confusion(run, 2).any()
    assert np.array_equal(read_confusion(run, 3), matrix(3))


def test_too_many_classes_are_not_kept(run):
    append_confusion(run, 1, np.zeros((257, 257), np.uint32))
    append_confusion(run, 1, None)
    assert not (run.path / NAME).exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 200))
def test_a_file_cut_anywhere_is_read_and_written_on(run, cut):
    for epoch in range(1, 5):
        append_confusion(run, epoch, matrix(epoch))
    path = run.path / NAME
    path.write_bytes(path.read_bytes()[:cut])
    whole = len(read_class_accuracy(run))
    assert whole == max(0, min(cut, 156) - 12) // 36
    for epoch in range(1, whole + 1):
        assert np.array_equal(read_confusion(run, epoch), matrix(epoch))
    append_confusion(run, whole + 1, matrix(9))
    assert len(read_class_accuracy(run)) == whole + 1
    assert np.array_equal(read_confusion(run, whole + 1), matrix(9))


@given(junk=st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_foreign_file_is_not_believed(run, junk):
    (run.path / NAME).write_bytes(junk)
    assert read_confusion(run, 1) is None
    assert read_class_accuracy(run).shape == (0, 0)


def test_a_folder_that_cannot_be_written_to_is_reported(run):
    (run.path / NAME).mkdir()
    with pytest.raises(SaveError, match="could not be saved"):
        append_confusion(run, 1, matrix(1))
