"""Trainings whose disk is full at the end: the weights are saved, whatever else has to go."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

import numpy as np
import pytest

from tests.small_disk import filled, small_disk
from tests.small_projects import network_on
from tests.worker.conftest import Trainer
from workbench.backbones import all_backbones, checked_file
from workbench.cli import main
from workbench.core.projects.project import Choice, Project
from workbench.core.storage.save import save_bytes
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import RunError
from workbench.inference.onnx_runner import load_onnx_runner
from workbench.protocol.events import (
    CheckpointKept,
    EpochFinished,
    LogLine,
    PhaseChanged,
    RunFinished,
)
from workbench.runs.control import request_again, request_save, request_stop
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.history import UNSAVED
from workbench.runs.start import start_trainer
from workbench.runs.state.outcome import outcome_of
from workbench.runs.store.weights_file import read_arrays

pytestmark = [
    pytest.mark.worker,
    pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted by root alone"),
]


@pytest.fixture
def disk_of(tmp_path):
    """Makes a folder on a disk of its own, of so many megabytes."""
    with contextlib.ExitStack() as mounted:

        def make(megabytes):
            disk = tmp_path / "disk"
            try:
                mounted.enter_context(small_disk(disk, megabytes=megabytes))
            except subprocess.CalledProcessError:
                pytest.skip("no small disk can be mounted here")
            return disk

        yield make


@pytest.fixture
def start(_started):
    """Starts a trainer whose run is in a folder of its own choice."""

    def begin(project, path):
        run = create_run(project, path=path)
        _started.append(Trainer(run, start_trainer(run)))
        return _started[-1]

    return begin


def wait_until_unsaved(training):
    while not any(event.phase == UNSAVED for event in training.all(PhaseChanged)):
        training.wait_for(PhaseChanged, count=len(training.all(PhaseChanged)) + 1)


def next_error(training):
    """The next line of the log that is an error."""
    count = len(training.all(LogLine))
    while (line := training.wait_for(LogLine, count=count + 1)[count]).level != "error":
        count += 1
    return line


def head_project(folder):
    """Two units on a frozen pretrained network of some megabytes."""
    images = np.random.default_rng(1).integers(0, 255, (40, 64, 64, 3), dtype=np.uint8)
    labels = np.arange(40) % 2
    path = folder / "images.npz"
    np.savez(path, x_train=images, y_train=labels, x_test=images[:10], y_test=labels[:10])
    bundled = [each for each in all_backbones().values() if each.is_bundled]
    spec = max(bundled, key=lambda each: checked_file(each).stat().st_size)
    return Project(
        graph=network_on(spec, units=2),
        recipe=TrainingRecipe().with_values(epochs=100_000, batch_size=10, validation="split"),
        dataset=Choice("npz", {"path": str(path)}),
    )


@pytest.mark.parametrize("is_full", [False, True])
def test_the_end_of_a_head_needs_no_second_copy_of_the_frozen_weights(
    start, disk_of, tmp_path, is_full
):
    """The old weights give way, as the checkpoint of the end can make the new ones again."""
    disk = disk_of(20)
    training = start(head_project(tmp_path), disk / "run")
    training.wait_for(EpochFinished, count=3)
    training.wait_for(CheckpointKept)
    size = training.run.weights_path.stat().st_size
    assert 2 * size > 20_000_000
    with filled(disk) if is_full else contextlib.nullcontext():
        request_stop(training.run)
        finished = training.finish()
    assert (finished.outcome, finished.error) == ("stopped", None)
    assert finished.can_resume
    weights = read_arrays(training.run.weights_path, checksum=training.run.model_card().checksum)
    assert finished.kept.epoch == finished.epochs_done
    assert weights["head/kernel"].any()


WIDE = [("flatten", {}), ("dense", {"units": 2_000})]


def test_a_signal_ends_the_wait_for_room(start, disk_of, small_project):
    disk = disk_of(16)
    with filled(disk, but=300_000):
        training = start(small_project(*WIDE, epochs=3), disk / "run")
        wait_until_unsaved(training)
        os.kill(training.pid, signal.SIGTERM)
        training.wait_for_end()
    assert not training.run.is_alive()
    assert not training.run.has_model()


def test_weights_without_room_are_held_until_they_are_saved_elsewhere(
    start, disk_of, small_project, tmp_path
):
    disk = disk_of(16)
    with filled(disk, but=300_000):
        training = start(small_project(*WIDE, epochs=3), disk / "run")
        wait_until_unsaved(training)
        assert training.run.is_alive()
        assert not training.run.has_model()
        with pytest.raises(RunError, match="exists already"):
            request_save(training.run, tmp_path)
        mine = tmp_path / "made meanwhile"
        mine.mkdir()
        (mine / "letter").touch()
        save_bytes(training.run.control_path, b"save " + os.fsencode(mine))
        refused = next_error(training)
        assert "could not be copied" in refused.text
        assert [file.name for file in mine.iterdir()] == ["letter"]
        place = tmp_path / "saved"
        request_save(training.run, place)
        (finished,) = training.wait_for(RunFinished)
        training.wait_for_end()
    assert finished.outcome == "failed"
    assert str(place) in finished.error.where
    copy = RunFolder(place)
    assert outcome_of(copy).kind == "stopped"
    assert copy.request() == training.run.request()
    assert read_arrays(copy.weights_path, checksum=copy.model_card().checksum)
    images = np.zeros((2, 8, 8, 1), np.uint8)
    assert load_onnx_runner(place).outputs(images)[0].shape == (2, 3)


def test_a_log_without_room_hides_no_weights_that_are_held(start, disk_of, small_project, tmp_path):
    """So many epochs follow on the full disk that the log does not come to say so."""
    disk, place = disk_of(16), tmp_path / "saved"
    with filled(disk, but=300_000):
        training = start(small_project(*WIDE, epochs=300), disk / "run")
        training.wait_for(EpochFinished)
        with filled(disk / "run"):
            deadline = time.monotonic() + 200
            while not outcome_of(training.run).is_unwritable and time.monotonic() < deadline:
                time.sleep(0.5)
            outcome = outcome_of(training.run)
            assert outcome.is_unwritable
            assert "the disk is full" in outcome.reason
            assert main(["runs", "save", str(training.run.path), str(place)]) == 0
            training.wait_for_end()
    copy = RunFolder(place)
    assert copy.model_card().epochs_done == 300
    assert read_arrays(copy.weights_path, checksum=copy.model_card().checksum)


def test_weights_without_room_are_saved_once_there_is_some(start, disk_of, small_project):
    disk = disk_of(16)
    with filled(disk, but=300_000):
        training = start(small_project(*WIDE, epochs=3), disk / "run")
        wait_until_unsaved(training)
    request_again(training.run)
    finished = training.finish()
    assert (finished.outcome, finished.epochs_done) == ("completed", 3)
    assert finished.test is not None
    assert training.run.has_model()
