"""TensorFlow's own reader finds in the files what was written; errors never stop a training."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from workbench.core.projects.project import Project
from workbench.protocol.events import Batch, EpochFinished, LogLine, Plan, RunStarted
from workbench.runs.folder import create_run
from workbench.runs.home import data_home
from workbench.runs.log.event_log import EventWriter, read_all
from workbench.settings.store import SettingsStore
from workbench.worker.process.run_channel import EventLogger
from workbench.worker.trainer.tensorboard import EventFile, TensorBoardLog, tensorboard_listener

pytestmark = pytest.mark.worker


@pytest.fixture
def run():
    return create_run(Project())


@pytest.fixture
def events(run):
    with EventWriter(run.events_path) as writer:
        events = EventLogger(writer)
        events.listen(
            tensorboard_listener(run, lambda text: events.log_line(text, level="warning"))
        )
        yield events


def read(folder):
    """The points of a folder: [(tag, step, value)], with ("START", step, None), as TensorFlow
    reads them; it checks every checksum.
    """
    import tensorflow as tf

    points, versions = [], []
    for path in sorted(folder.iterdir()):
        for record in tf.data.TFRecordDataset(str(path)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            if event.file_version:
                versions.append(event.file_version)
            if event.session_log.status == tf.compat.v1.SessionLog.START:
                assert event.step >= 1
                points.append(("START", event.step, None))
            points += [(value.tag, event.step, value.simple_value) for value in event.summary.value]
            assert event.wall_time >= 1e9 / 2
    assert versions == ["brain.Event:2"] * len(list(folder.iterdir()))
    return points


def started(resumed_at_step=None):
    return RunStarted(
        run="r", target="this_computer", precision="float32", seed=1, versions={}, epochs=2,
        plan=Plan(precision="float32"), batch_size=4, pid=1, resumed_at_step=resumed_at_step,
    )  # fmt: skip


def batch(step, time, loss=1.0, learning_rate=0.1):
    return Batch(
        epoch=1, step=step, first_step=step, loss=loss, accuracy=0.25, losses=[loss],
        accuracies=[0.25], images_per_second=9.0, learning_rate=learning_rate, time=time,
    )  # fmt: skip


def epoch(number, step, **values):
    logged = {"loss": 0.5, "accuracy": 0.5, "val_loss": 0.75, "val_accuracy": 0.25} | values
    return EpochFinished(
        epoch=number, step=step, seconds=1.0, images_per_second=64.0, time=1e9 + step, **logged
    )


def test_a_run_in_two_folders(tmp_path):
    log = TensorBoardLog(tmp_path)
    for event in (started(), LogLine(text="x"), batch(1, 1e9), epoch(1, 10, top_k_accuracy=0.5)):
        log.add(event)
    assert read(tmp_path / "train") == [
        ("START", 1, None), ("batch_loss", 1, 1.0), ("batch_accuracy", 1, 0.25),
        ("learning_rate", 1, pytest.approx(0.1)),
        ("epoch_loss", 10, 0.5), ("epoch_accuracy", 10, 0.5), ("images_per_second", 10, 64.0),
    ]  # fmt: skip
    assert read(tmp_path / "validation") == [
        ("START", 1, None), ("epoch_loss", 10, 0.75), ("epoch_accuracy", 10, 0.25), ("epoch_top_k_accuracy", 10, 0.5),
    ]  # fmt: skip


def test_without_validation_there_is_no_folder_for_it(tmp_path):
    TensorBoardLog(tmp_path).add(epoch(1, 10, val_loss=None, val_accuracy=None))
    assert [path.name for path in tmp_path.iterdir()] == ["train"]


def test_a_few_batches_a_second_are_enough(tmp_path):
    log = TensorBoardLog(tmp_path)
    for number in range(1000):
        log.add(batch(number + 1, 1e9 + number / 100))
    log.add(batch(1001, 5e8))  # the clock was set back: go on
    steps = [step for tag, step, _ in read(tmp_path / "train") if tag == "batch_loss"]
    assert 45 <= len(steps) <= 52
    assert steps[-1] == 1001


def test_what_was_not_finite_is_shown_as_such(tmp_path):
    TensorBoardLog(tmp_path).add(batch(1, 1e9, loss=None, learning_rate=None))
    _, loss, accuracy = read(tmp_path / "train")
    assert loss[0] == "batch_loss"
    assert math.isnan(loss[2])
    assert accuracy == ("batch_accuracy", 1, 0.25)


def test_a_resumed_run_takes_back_what_it_does_again(tmp_path):
    first = TensorBoardLog(tmp_path)
    for event in (started(), batch(5, 1e9), epoch(1, 10), batch(15, 1e9 + 1)):
        first.add(event)  # and then it was killed
    second = TensorBoardLog(tmp_path)
    for event in (started(resumed_at_step=12), batch(13, 2e9)):
        second.add(event)
    points = read(tmp_path / "train")
    assert points[0] == ("START", 1, None), "TensorBoard heeds only the second one"
    assert points.index(("START", 13, None)) == len(points) - 4
    assert read(tmp_path / "validation")[-1] == ("START", 13, None)
    assert len(list((tmp_path / "train").iterdir())) == 2


@pytest.mark.parametrize(("value", "kept"), [(1e300, math.inf), (-1e300, -math.inf), (-2.5, -2.5)])
def test_large_values_do_not_stop_it(tmp_path, value, kept):
    EventFile(tmp_path).scalars(1, {"x": value}, wall_time=1e9)
    assert read(tmp_path) == [("START", 1, None), ("x", 1, kept)]


def test_a_run_folder_that_was_removed_does_not_come_back(tmp_path):
    log = TensorBoardLog(tmp_path / "removed" / "tensorboard")
    with pytest.raises(FileNotFoundError):
        log.add(epoch(1, 10))
    assert list(tmp_path.iterdir()) == []


def test_a_trainer_writes_as_it_logs(run, events):
    for event in (started(), batch(3, 0.0, loss=2.5), epoch(1, 10)):
        events.log(event)
    train = read(run.path / "tensorboard" / "train")
    assert train[:2] == [("START", 1, None), ("batch_loss", 3, 2.5)]
    assert train[-1] == ("images_per_second", 10, 64.0)
    assert read(run.path / "tensorboard" / "validation")[1:] == [
        ("epoch_loss", 10, 0.75),
        ("epoch_accuracy", 10, 0.25),
    ]


def test_a_resumed_trainer_says_where(run, events):
    events.log(started())
    events.log(batch(15, 0.0))
    with EventWriter(run.events_path) as writer:
        again = EventLogger(writer)
        again.listen(tensorboard_listener(run, pytest.fail))
        again.log(started(resumed_at_step=12))
    points = read(run.path / "tensorboard" / "train")
    assert [step for tag, step, _ in points if tag == "START"] == [1, 13]


def warnings(run):
    logged = [event for event in read_all(run.events_path) if isinstance(event, LogLine)]
    assert {event.level for event in logged} == {"warning"}
    return [event.text for event in logged]


@pytest.mark.parametrize("part", ["", "train"])
def test_a_folder_that_cannot_be_written_is_logged_once_and_training_goes_on(run, events, part):
    path = run.path / "tensorboard" / part
    path.parent.mkdir(exist_ok=True)
    path.write_text("in the way")
    for number in range(1, 4):
        events.log(batch(number, 0.0))
        events.log(epoch(number, number))
    (text,) = warnings(run)
    assert text == "TensorBoard logging stopped: File exists."
    assert len(read_all(run.events_path)) == 7


def test_a_full_disk_in_the_middle_is_logged_once(run, events):
    events.log(batch(1, 0.0))
    (path,) = (run.path / "tensorboard" / "train").iterdir()
    opened = {link.resolve(): int(link.name) for link in Path("/proc/self/fd").iterdir()}
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, opened[path])  # from here on the kernel has no space left for this file
    os.close(full)
    events.log(epoch(1, 10))
    events.log(epoch(2, 20))
    assert warnings(run) == ["TensorBoard logging stopped: No space left on device."]
    assert len(read_all(run.events_path)) == 4


def test_who_wants_no_files_gets_none(run):
    store = SettingsStore(data_home())
    store.change(writes_tensorboard=False)
    store.close()
    assert tensorboard_listener(run, pytest.fail) is None
