"""The parts of the trainer that need no process of their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.projects.project import Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import DatasetError
from workbench.runs.log.event_log import EventWriter, read_all
from workbench.worker.execution.compiled import sizes_of
from workbench.worker.input.pipeline import endless_passes, padded_batches, whole_epochs
from workbench.worker.process.failure import error_parts
from workbench.worker.process.run_channel import EventLogger
from workbench.worker.step.training_loop import CallLength, StepResults

pytestmark = pytest.mark.worker

_COUNTS = st.integers(1, 60)


@given(count=_COUNTS, batch=st.integers(1, 20), seed=st.integers(0, 2**31 - 1))
def test_an_epoch_has_each_picture_at_most_once(count, batch, seed):
    batch = min(batch, count)
    epochs = whole_epochs(count, batch, seed=seed)
    again = whole_epochs(count, batch, seed=seed)
    for _ in range(3):
        block = next(epochs)
        assert block.shape == (count // batch, batch)
        assert len(np.unique(block)) == block.size
        assert np.array_equal(block, next(again))


@given(count=_COUNTS, batch=st.integers(1, 20))
def test_endless_passes_show_each_picture_once_before_any_twice(count, batch):
    blocks = endless_passes(count, min(batch, count), seed=3)
    shown = np.concatenate([next(blocks).ravel() for _ in range(5)])
    for start in range(0, len(shown) - count, count):
        assert sorted(shown[start : start + count]) == list(range(count))


@given(count=_COUNTS, batch=st.integers(1, 20))
def test_padded_batches_hold_each_picture_once(count, batch):
    indices, weights = padded_batches(count, batch)
    assert indices.shape == weights.shape
    assert indices[weights > 0].tolist() == list(range(count))


def test_sizes_follow_recipe_data_and_replicas():
    project = Project(recipe=TrainingRecipe(batch_size=64, epochs=2))
    assert sizes_of(project, 1000).steps_per_epoch == 15
    assert sizes_of(project, 30).batch_size == 30
    assert sizes_of(project, 30, replicas=8).batch_size == 24
    assert sizes_of(project, 30, replicas=30).steps_per_epoch == 1
    with pytest.raises(DatasetError, match="fewer training images"):
        sizes_of(project, 30, replicas=31)
    chosen = Project(recipe=TrainingRecipe(batch_size=10, steps_per_epoch=7, epochs=3))
    assert sizes_of(chosen, 20).total_steps == 21


def test_calls_are_as_long_as_the_target_wants():
    long, fixed = CallLength(call_s=0.5), CallLength(pinned=40, call_s=0.5)
    for _ in range(8):
        long.learn(results(long.steps, 0.01))
        fixed.learn(results(fixed.steps, 0.01))
    assert (long.steps, fixed.steps) == (50, 40)


def test_calls_grow_gently_and_shrink_at_once():
    call = CallLength()
    fast, slow = 0.001, 3.0
    for wanted in (4, 16, 64):
        call.learn(results(call.steps, fast))
        assert call.steps == wanted
    for _ in range(3):
        call.learn(results(call.steps, slow))
    assert call.steps == 1


def results(steps, step_s):
    return StepResults(np.zeros(steps, np.float32), np.zeros(steps, np.float32), steps * step_s)


def test_failures_are_explained():
    parts = error_parts(DatasetError("No pictures.", fix="Add some."))
    assert (parts.what, parts.fix) == ("No pictures.", "Add some.")
    memory = error_parts(MemoryError("Unable to allocate 9 GiB"), batch_size=1024)
    assert "memory" in memory.what
    assert "512" in memory.fix
    disk = error_parts(OSError(28, "No space left on device", "/data/x"))
    assert disk.what == "The disk is full."
    unknown = error_parts(ZeroDivisionError("division by zero"))
    assert "ZeroDivisionError" in unknown.what
    assert unknown.received == "division by zero"


def test_progress_is_throttled_but_first_and_last_are_logged(tmp_path):
    with EventWriter(tmp_path / "events.jsonl") as writer:
        events = EventLogger(writer)
        for number in range(10_001):
            events.phase("loading", "Loading", number / 10_000)
        events.phase("building", "Building")
    events = read_all(tmp_path / "events.jsonl")
    assert events[0].fraction == 0.0
    assert events[-2].fraction == 1.0
    assert events[-1].phase == "building"
    assert len(events) < 500
