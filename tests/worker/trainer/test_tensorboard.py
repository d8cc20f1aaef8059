"""TensorFlow's own reader finds in our files what was written; errors never stop a training."""

from __future__ import annotations

import os

import pytest

from tests.runs.export.test_tensorboard import batch, epoch, started
from workbench.core.projects.project import Project
from workbench.protocol.events import LogLine
from workbench.runs.export.tensorboard_file import record
from workbench.runs.folder import create_run
from workbench.runs.home import data_home
from workbench.runs.log.event_log import EventWriter, read_all
from workbench.settings.store import SettingsStore
from workbench.worker.process.event_logger import Teller
from workbench.worker.trainer.tensorboard import tensorboard_listener

pytestmark = pytest.mark.worker


@pytest.fixture
def run():
    return create_run(Project())


@pytest.fixture
def teller(run):
    with EventWriter(run.events_path) as writer:
        teller = Teller(writer)
        teller.listen(tensorboard_listener(run, lambda text: teller.log(text, level="warning")))
        yield teller


def read(folder):
    """Steps and values by tag, as TensorFlow reads them; checks every checksum."""
    import tensorflow as tf

    found, versions, starts = {}, [], []
    for path in sorted(folder.iterdir()):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            if event.file_version:
                versions.append(event.file_version)
            if event.session_log.status == 1:
                starts.append(event.step)
            for value in event.summary.value:
                assert event.wall_time > 1e9
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    assert set(versions) == {"brain.Event:2"}
    assert len(versions) == len(list(folder.iterdir()))
    return found, starts


def test_tensorflow_reads_what_was_written(run, teller):
    teller.tell(started())
    teller.tell(batch(3, 0.0, loss=2.5))
    teller.tell(epoch(1, 10))
    train, starts = read(run.path / "tensorboard" / "train")
    assert train["batch_loss"] == [(3, 2.5)]
    assert train["epoch_loss"] == [(10, 0.5)]
    assert train["images_per_second"] == [(10, 64.0)]
    assert train["learning_rate"][0][1] == pytest.approx(0.1)
    assert starts == [1]
    validation, _ = read(run.path / "tensorboard" / "validation")
    assert validation == {"epoch_loss": [(10, 0.75)], "epoch_accuracy": [(10, 0.25)]}


def test_a_resumed_run_says_where(run, teller):
    teller.tell(started())
    teller.tell(batch(15, 0.0))
    with EventWriter(run.events_path) as writer:
        again = Teller(writer)
        again.listen(tensorboard_listener(run, pytest.fail))
        again.tell(started(resumed_at_step=12))
    _, starts = read(run.path / "tensorboard" / "train")
    assert starts == [1, 13]


def test_a_record_is_the_one_tensorflow_writes(tmp_path):
    import tensorflow as tf

    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"foo")
        writer.write(b"")
    assert (tmp_path / "records").read_bytes() == record(b"foo") + record(b"")


def test_a_folder_that_cannot_be_written_is_told_once_and_training_goes_on(run, teller):
    (run.path / "tensorboard").write_text("in the way")
    for number in range(1, 4):
        teller.tell(batch(number, 0.0))
        teller.tell(epoch(number, number))
    told = [event for event in read_all(run.events_path) if isinstance(event, LogLine)]
    assert len(told) == 1
    assert told[0].level == "warning"
    assert "TensorBoard" in told[0].text
    assert len(read_all(run.events_path)) == 7


def test_a_full_disk_in_the_middle_is_told_once(run, teller, monkeypatch):
    teller.tell(batch(1, 0.0))
    real = os.write

    def full(descriptor, data):
        if b"epoch_loss" in bytes(data) and not bytes(data).startswith(b"{"):
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    teller.tell(epoch(1, 10))
    teller.tell(epoch(2, 20))
    told = [event for event in read_all(run.events_path) if isinstance(event, LogLine)]
    assert [event.text for event in told] == [
        "TensorBoard files are no longer written: No space left on device."
    ]


def test_who_wants_no_files_gets_none(run):
    store = SettingsStore(data_home())
    store.change(writes_tensorboard=False)
    store.close()
    assert tensorboard_listener(run, pytest.fail) is None
