"""An event log on a disk that fills up, is taken away, and comes back."""

from __future__ import annotations

import errno
import os
import resource

import pytest

from workbench.errors import SaveError
from workbench.protocol.events import Batch, CheckpointKept, Heartbeat, LogLine
from workbench.runs.log import append_file, event_log
from workbench.runs.log.append_file import AppendFile
from workbench.runs.log.event_log import EventReader, EventWriter, read_all


@pytest.fixture
def limit():
    """Sets how large a file may become in this process; None for as large as it was."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def set_limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft if size is None else size, hard))

    yield set_limit
    set_limit(None)


class SmallDisk:
    """A disk with room for some bytes; the reserve's room comes free when it is removed."""

    def __init__(self, monkeypatch, room):
        self.room = room
        self._write, self._unlink = os.write, append_file.Path.unlink
        monkeypatch.setattr(append_file.os, "write", self.write)
        unlink = lambda path, *args, **options: self.unlink(path, *args, **options)  # noqa: E731, PLW0108 - a method
        monkeypatch.setattr(append_file.Path, "unlink", unlink)

    def write(self, descriptor, data):
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = self._write(descriptor, data[: self.room])
        self.room -= count
        return count

    def unlink(self, path, *args, **options):
        self._unlink(path, *args, **options)
        if path.suffix == ".reserve":
            self.room += 64 * 1024


def test_a_line_cut_short_is_completed(tmp_path, limit):
    path = tmp_path / "events.jsonl"
    file = AppendFile(path)
    file.append(b"first\n")
    limit(10)
    for number in range(50):
        file.append(b"line %d\n" % number)
    assert path.read_bytes() == b"first\nline"
    assert file.problem.errno == errno.EFBIG
    with pytest.raises(SaveError, match="exceeds the size limit"):
        file.sync()
    limit(None)
    assert file.flush()
    file.sync()
    file.close()
    assert path.read_bytes() == b"first\n" + b"".join(b"line %d\n" % n for n in range(50))
    assert [entry.name for entry in tmp_path.iterdir()] == ["events.jsonl"]


def test_events_outlast_a_limit_and_are_in_order(tmp_path, limit):
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        writer.write(LogLine(text="before"))
        limit(path.stat().st_size + 37)
        for number in range(200):
            writer.write(LogLine(text=f"while {number}"))
        reader = EventReader(path)
        assert [event.text for event in reader.read_new()] == ["before"]
        limit(None)
        writer.write(LogLine(text="after"))
        assert writer.flush()
    events = read_all(path)
    assert [event.seq for event in events] == list(range(1, 203))
    assert events[-1].text == "after"


def test_a_full_disk_is_logged_in_the_room_that_was_kept(tmp_path, monkeypatch):
    path = tmp_path / "events.jsonl"
    disk = SmallDisk(monkeypatch, room=1_000)
    with EventWriter(path) as writer:
        writer.write(CheckpointKept(step=40, epoch=4))
        for number in range(30):
            writer.write(LogLine(text=f"line {number}"))
        problems = [e for e in read_all(path) if isinstance(e, CheckpointKept) and e.problem]
        assert [(event.step, event.epoch) for event in problems] == [(40, 4)]
        assert "full" in problems[0].problem.what
        disk.room = 0
        for number in range(30, 60):
            writer.write(LogLine(text=f"line {number}"))
        assert not writer.flush()
        disk.room = 1 << 20
        assert writer.flush()
    events = read_all(path)
    texts = [event.text for event in events if isinstance(event, LogLine)]
    assert texts == [f"line {number}" for number in range(60)]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


def test_what_only_passes_is_dropped_when_too_much_waits(tmp_path, limit, monkeypatch):
    monkeypatch.setattr(event_log, "_MOST_WAITING", 2_000)
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        limit(0)
        count = 0
        while not writer.is_full:
            count += 1
            writer.write(
                Batch(epoch=1, step=count, first_step=count, loss=0.5, accuracy=0.5,
                      images_per_second=1.0, losses=[0.5], accuracies=[0.5])
            )  # fmt: skip
        for _ in range(10_000):
            writer.write(Heartbeat(memory_bytes=1))
        limit(None)
        assert writer.flush()
    events = read_all(path)
    assert [event.step for event in events] == list(range(1, count + 1))


def test_a_removed_folder_is_noticed(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    with EventWriter(folder / "events.jsonl") as writer:
        (folder / "events.jsonl").unlink()
        with pytest.raises(SaveError, match="removed"):
            writer.secure()
