"""Checkpoints: two generations in turn, damage found, and what distinguishes machines."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from workbench.errors import SaveError, WeightsError
from workbench.protocol.events import EpochFinished, Plan
from workbench.runs.store.checkpoint import (
    DataMark,
    TrainerState,
    checkpoint_path,
    differences,
    has_checkpoint,
    keep_final_checkpoint,
    read_best,
    read_checkpoint,
    remove_checkpoints,
    remove_old_best,
    this_machine,
    tidy_up,
    write_best,
    write_checkpoint,
)

BEST = EpochFinished(
    epoch=2, step=20, loss=0.1 + 0.2, accuracy=1 / 3, val_loss=None, val_accuracy=None,
    seconds=1.0, images_per_second=5.0,
)  # fmt: skip


def state(number, **values):
    return TrainerState(
        number=number, step=10 * number, epochs_done=number, seconds=1.5,
        plan=Plan(precision="float32"), machine=this_machine({"keras": "3.15"}),
        data=DataMark(num_train=5, num_validation=0, num_test=1, digest="d"), **values,
    )  # fmt: skip


def arrays(number):
    return {"state/w": np.full((2, 3), number, np.float32), "state/seed": np.uint32([1, number])}


def test_a_state_comes_back_exactly(run):
    kept = state(3, best=BEST, best_file="best-2.npz", rules={"rate_scale": 0.1, "seen": 3})
    write_checkpoint(run, kept, arrays(3))
    found = read_checkpoint(run)
    assert found.state == kept
    assert found.notes == ()
    for name, array in arrays(3).items():
        np.testing.assert_array_equal(found.arrays[name], array)
    assert found.arrays.keys() == arrays(3).keys()


def test_the_newest_of_two_generations_is_read(run):
    assert read_checkpoint(run) is None
    assert not has_checkpoint(run)
    for number in range(1, 6):
        write_checkpoint(run, state(number), arrays(number))
        assert read_checkpoint(run).state.number == number
        assert len(list(run.checkpoints_path.iterdir())) == min(number, 2)
    assert has_checkpoint(run)


def test_a_damaged_newest_generation_falls_back_and_is_reported(run):
    for number in (1, 2):
        write_checkpoint(run, state(number), arrays(number))
    newest = checkpoint_path(run, 1)
    whole = newest.read_bytes()
    for position in range(0, len(whole), 7):
        newest.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        found = read_checkpoint(run)
        if found.state.number == 2:  # a bit that zip does not look at
            assert found.state == state(2)
            np.testing.assert_array_equal(found.arrays["state/w"], arrays(2)["state/w"])
            continue
        assert found.state.number == 1
        assert "damaged" in found.notes[0]
        assert "step 10" in found.notes[1]
    newest.write_bytes(whole[: len(whole) // 2])
    assert read_checkpoint(run).state.number == 1
    # The next one replaces the damaged one, not the last that is whole.
    write_checkpoint(run, state(2), arrays(2))
    assert read_checkpoint(run).notes == ()


def test_nothing_whole_is_an_error_in_words(run):
    write_checkpoint(run, state(1), arrays(1))
    checkpoint_path(run, 2).write_bytes(b"PK")
    with pytest.raises(WeightsError, match="No checkpoint"):
        read_checkpoint(run)


def test_a_checkpoint_of_a_newer_version_is_not_used(run):
    write_checkpoint(run, state(1), arrays(1))
    write_checkpoint(run, msgspec.structs.replace(state(2), version=99), arrays(2))
    assert read_checkpoint(run).state.number == 1


def test_best_weights_stay_as_long_as_a_generation_names_them(run):
    for number in range(1, 4):
        name = write_best(run, number, {"w": np.float32([number])})
        write_checkpoint(run, state(number, best_file=name), arrays(number))
        remove_old_best(run)
    names = {path.name for path in run.checkpoints_path.glob("best-*")}
    assert names == {"best-2.npz", "best-3.npz"}
    assert read_best(run, "best-2.npz")["w"] == [2.0]
    with pytest.raises(WeightsError):
        read_best(run, "../weights.npz")
    remove_checkpoints(run)
    assert not run.checkpoints_path.exists()


def test_a_removed_run_folder_does_not_come_back(run):
    run.request_path.unlink()
    run.path.rmdir()
    with pytest.raises(SaveError):
        write_checkpoint(run, state(1), arrays(1))
    assert not run.path.exists()


def test_differences_of_machines_are_explained(monkeypatch):
    then = this_machine({"tensorflow": "2.20.0", "numpy": "2.4"})
    assert differences(then, this_machine({"tensorflow": "2.20.0", "numpy": "2.4"})) == []
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    now = msgspec.structs.replace(this_machine({"tensorflow": "2.21.0", "numpy": "2.4"}), cores=99)
    words = differences(then, now)
    assert words[0] == "TensorFlow 2.21.0 instead of 2.20.0"
    assert words[1].startswith("99 cores instead of ")
    assert "OMP_NUM_THREADS is 64" in words[-1]


def test_what_a_killed_trainer_was_writing_is_removed_and_nothing_else(run):
    write_checkpoint(run, state(1), arrays(1))
    leftover = run.checkpoints_path / ".workbench-save-0123456789abcdef"
    leftover.write_bytes(b"half")
    other = run.path / ".workbench-save-0123456789abcdef"
    other.write_bytes(b"another process may be saving this")
    tidy_up(run)
    assert not leftover.exists()
    assert other.exists()
    assert read_checkpoint(run).state == state(1)


def test_a_completed_run_keeps_the_checkpoint_of_its_end_and_its_best_weights(run):
    for epoch in (1, 3):
        write_best(run, epoch, {"w": np.ones(2, np.float32)})
    for number in (4, 5):
        write_checkpoint(run, state(number, best=BEST, best_file="best-3.npz"), arrays(number))
    keep_final_checkpoint(run, 5)
    assert {path.name for path in run.checkpoints_path.iterdir()} == {"2.npz", "best-3.npz"}
    assert read_checkpoint(run).state.number == 5
    keep_final_checkpoint(run, 6)  # that of the end could not be written
    assert not run.checkpoints_path.exists()
