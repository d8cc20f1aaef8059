"""The event files are byte for byte what the formats say; TensorFlow reads them in
tests/worker/trainer/test_tensorboard.py."""

from __future__ import annotations

import math
import struct

import pytest

from workbench.protocol.events import Batch, EpochFinished, LogLine, Plan, RunStarted
from workbench.runs.export.tensorboard_file import EventFile, crc32c, record, scalars_event
from workbench.runs.export.tensorboard_log import TensorBoardLog


@pytest.mark.parametrize(
    ("data", "checksum"),
    [  # RFC 3720, appendix B.4
        (b"\0" * 32, 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (b"123456789", 0xE3069283),
        (b"", 0),
    ],
)
def test_the_checksum_is_the_published_one(data, checksum):
    assert crc32c(data) == checksum


def test_a_record_as_tensorflow_writes_it():
    """tf.io.TFRecordWriter().write(b"foo") of TensorFlow 2.21."""
    assert record(b"foo").hex() == "0300000000000000b099490e666f6f618abefe"


def test_an_event_field_by_field():
    data = scalars_event(1.5, 300, {"a": 0.5})
    value = b"\x0a\x01a" + b"\x15" + struct.pack("<f", 0.5)
    summary = b"\x0a" + bytes([len(value)]) + value
    assert data == (
        b"\x09"
        + struct.pack("<d", 1.5)
        + b"\x10\xac\x02"
        + b"\x2a"
        + bytes([len(summary)])
        + summary
    )


def fields(data):
    """[(number, value)] of a protocol buffer: enough of a reader for these events."""
    found, at = [], 0

    def varint(at):
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    while at < len(data):
        key, at = varint(at)
        kind = key & 7
        if kind == 0:
            value, at = varint(at)
        elif kind == 1:
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        elif kind == 5:
            (value,), at = struct.unpack_from("<f", data, at), at + 4
        else:
            size, at = varint(at)
            value, at = data[at : at + size], at + size
        found.append((key >> 3, value))
    return found


def read(folder):
    """The points of a folder: [(tag, step, value)], with ("START", step, None)."""
    points = []
    for path in sorted(folder.iterdir()):
        data, at = path.read_bytes(), 0
        while at < len(data):
            (size,) = struct.unpack_from("<Q", data, at)
            event = data[at + 12 : at + 12 + size]
            assert record(event) == data[at : at + size + 16]
            at += size + 16
            told = dict(fields(event))
            if 7 in told:
                assert told[7] == b"\x08\x01"
                assert told[2] >= 1
                points.append(("START", told[2], None))
            for number, summary in fields(told.get(5, b"")):
                assert number == 1
                value = dict(fields(summary))
                points.append((value[1].decode(), told[2], value[2]))
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
    told = {"loss": 0.5, "accuracy": 0.5, "val_loss": 0.75, "val_accuracy": 0.25} | values
    return EpochFinished(
        epoch=number, step=step, seconds=1.0, images_per_second=64.0, time=1e9 + step, **told
    )


def test_a_run_in_two_folders(tmp_path):
    log = TensorBoardLog(tmp_path)
    for event in (started(), LogLine(text="x"), batch(1, 1e9), epoch(1, 10, top_k_accuracy=0.5)):
        log.add(event)
    log.close()
    assert read(tmp_path / "train") == [
        ("START", 1, None), ("batch_loss", 1, 1.0), ("batch_accuracy", 1, 0.25),
        ("learning_rate", 1, pytest.approx(0.1)),
        ("epoch_loss", 10, 0.5), ("epoch_accuracy", 10, 0.5), ("images_per_second", 10, 64.0),
    ]  # fmt: skip
    assert read(tmp_path / "validation") == [
        ("START", 1, None), ("epoch_loss", 10, 0.75), ("epoch_accuracy", 10, 0.25), ("epoch_top_k_accuracy", 10, 0.5),
    ]  # fmt: skip


def test_without_validation_there_is_no_folder_for_it(tmp_path):
    log = TensorBoardLog(tmp_path)
    log.add(epoch(1, 10, val_loss=None, val_accuracy=None))
    log.close()
    assert [path.name for path in tmp_path.iterdir()] == ["train"]


def test_a_few_batches_a_second_are_enough(tmp_path):
    log = TensorBoardLog(tmp_path)
    for number in range(1000):
        log.add(batch(number + 1, 1e9 + number / 100))
    log.add(batch(1001, 5e8))  # the clock was set back: go on
    log.close()
    steps = [step for tag, step, _ in read(tmp_path / "train") if tag == "batch_loss"]
    assert 45 <= len(steps) <= 52
    assert steps[-1] == 1001


def test_what_was_not_finite_is_shown_as_such(tmp_path):
    log = TensorBoardLog(tmp_path)
    log.add(batch(1, 1e9, loss=None, learning_rate=None))
    log.close()
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
    first.close()
    second.close()


@pytest.mark.parametrize(("value", "kept"), [(1e300, math.inf), (-1e300, -math.inf), (-2.5, -2.5)])
def test_large_values_do_not_stop_it(tmp_path, value, kept):
    with EventFile(tmp_path) as file:
        file.scalars(1, {"x": value}, wall_time=0.0)
    assert read(tmp_path) == [("START", 1, None), ("x", 1, kept)]
    with pytest.raises(OSError):
        file.scalars(2, {"x": 1.0}, wall_time=0.0)


def test_a_run_folder_that_was_removed_does_not_come_back(tmp_path):
    log = TensorBoardLog(tmp_path / "removed" / "tensorboard")
    with pytest.raises(FileNotFoundError):
        log.add(epoch(1, 10))
    assert list(tmp_path.iterdir()) == []
