from __future__ import annotations

import re

import pytest

from workbench.errors import WireError
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import Batch, DataReady, LogLine, PhaseChanged, RunFinished
from workbench.runs.log.event_log import (
    LINE_LIMIT,
    LONGEST_LINE,
    EventReader,
    EventWriter,
    read_all,
)


def batch(count, first=1):
    return Batch(
        epoch=1, step=first + count - 1, loss=1.0, accuracy=0.5, images_per_second=1.0,
        first_step=first, losses=[1.0 / 3] * count, accuracies=[None] * count,
    )  # fmt: skip


def test_events_come_back_numbered_and_as_they_were(tmp_path, run, events):
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        written = [writer.write(event) for event in events(run)]
    assert read_all(path) == written
    assert [event.seq for event in written] == list(range(1, len(written) + 1))
    assert all(event.time > 0 for event in written)


def test_a_reader_follows_a_growing_log(tmp_path):
    path = tmp_path / "events.jsonl"
    reader = EventReader(path)
    assert reader.read_new() == []
    with EventWriter(path) as writer:
        for number in range(10):
            writer.write(LogLine(text=str(number)))
        assert [event.text for event in reader.read_new(max_events=3)] == ["0", "1", "2"]
        assert len(reader.read_new()) == 7
        assert reader.read_new() == []
        writer.write(LogLine(text="late"))
        assert [event.text for event in reader.read_new()] == ["late"]


def test_a_long_batch_event_becomes_several_lines_and_loses_nothing(tmp_path):
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        last = writer.write(batch(20_000))
    assert last.step == 20_000
    assert max(len(line) for line in path.read_bytes().splitlines()) <= LINE_LIMIT
    events = read_all(path)
    assert sum(len(event.losses) for event in events) == 20_000
    assert [event.first_step for event in events[1:]] == [event.step + 1 for event in events[:-1]]


def test_long_texts_and_lists_are_cut_to_fit(tmp_path):
    path = tmp_path / "events.jsonl"
    bad_files = [(f"folder/picture {n}.jpg", "cannot be decoded") for n in range(10_000)]
    with EventWriter(path) as writer:
        writer.write(LogLine(text="x" * 200_000))
        ready = writer.write(
            DataReady(
                class_names=["a"],
                num_train=1,
                num_validation=0,
                num_test=0,
                steps_per_epoch=1,
                bad_files=bad_files,
            )
        )
    assert 100 < len(ready.bad_files) < 10_000
    assert len(read_all(path)) == 2


def test_ten_thousand_names_of_classes_come_back_whole(tmp_path):
    """As many and as long as data sets have them, in letters of four bytes."""
    path = tmp_path / "events.jsonl"
    names = [f"{number:05}".ljust(100, "\N{OLD PERSIAN SIGN A}") for number in range(10_000)]
    ready = DataReady(
        class_names=names,
        num_train=1,
        num_validation=0,
        num_test=0,
        steps_per_epoch=1,
        bad_files=[(f"folder/picture {n}.jpg", "cannot be decoded") for n in range(10_000)],
    )
    reader = EventReader(path)
    with EventWriter(path) as writer:
        writer.write(ready)
        (event,) = reader.read_new()
        assert event.class_names == names
        assert len(event.bad_files) > 100
    with EventWriter(path) as writer:
        assert writer.write(LogLine(text="a trainer that goes on")).seq == 2
    assert [event.seq for event in reader.read_new()] == [2]
    assert reader.num_bad_lines == 0
    assert LINE_LIMIT < len(path.read_bytes().splitlines()[0]) < LONGEST_LINE


def test_a_long_line_torn_by_a_kill_is_passed_over(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"event":"data_ready","seq":1,"class_names":["' + b'x","' * LINE_LIMIT)
    reader = EventReader(path)
    assert reader.read_new() == []
    assert reader.has_torn_end
    with EventWriter(path) as writer:
        writer.write(LogLine(text="next"))
    assert [event.text for event in reader.read_new()] == ["next"]
    assert reader.num_bad_lines == 1


def test_an_event_that_cannot_be_cut_is_refused_and_not_written(tmp_path):
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        with pytest.raises(WireError, match="too long"):
            writer.write(PhaseChanged(phase="loading", text="x" * 100_000))
        writer.write(LogLine(text="next"))
    assert [event.seq for event in read_all(path)] == [1]


def test_a_torn_last_line_waits_until_it_is_whole(tmp_path):
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        writer.write(LogLine(text="one"))
        writer.write(LogLine(text="two"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    reader = EventReader(path)
    assert [event.text for event in reader.read_new()] == ["one"]
    assert reader.has_torn_end
    path.write_bytes(whole)
    assert [event.text for event in reader.read_new()] == ["two"]
    assert reader.num_bad_lines == 0


def test_a_log_torn_by_a_kill_is_continued(tmp_path):
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        writer.write(LogLine(text="one"))
        writer.write(LogLine(text="two"))
    path.write_bytes(path.read_bytes()[:-10])
    with EventWriter(path) as writer:
        assert writer.write(LogLine(text="three")).seq == 2
    reader = EventReader(path)
    assert [event.text for event in reader.read_new()] == ["one", "three"]
    assert reader.num_bad_lines == 1


@pytest.mark.parametrize(
    "garbage",
    [
        b"not json",
        b"{}",
        b'{"event":"batch"}',
        b'{"event":"unknown","seq":1}',
        b"\xff\xfe\x00",
        b"[" * 20_000,
        b'{"event":"log_line","seq":"1","text":3}',
        b'{"event":"log_line","seq":1,"text":"a number that was there before"}',
        (
            b'{"event":"batch","seq":9,"epoch":1,"step":3,"loss":1,"accuracy":1,'
            b'"images_per_second":1,"first_step":1,"losses":[1],"accuracies":[1]}'
        ),
        b"x" * (3 * LINE_LIMIT),
        b"x" * (LONGEST_LINE + 1),
    ],
)
def test_garbage_is_counted_and_passed_over(tmp_path, garbage):
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        writer.write(LogLine(text="before"))
    with path.open("ab") as file:
        file.write(garbage + b"\n")
    with EventWriter(path) as writer:
        writer.write(LogLine(text="after"))
    reader = EventReader(path)
    assert [event.text for event in reader.read_new()] == ["before", "after"]
    assert reader.num_bad_lines == 1
    assert len(reader.warnings) == 1


def test_a_line_without_end_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"x" * (5 << 20))
    reader = EventReader(path)
    assert reader.read_new() == []
    assert len(reader._rest) <= LONGEST_LINE
    with path.open("ab") as file:
        file.write(b'\n{"event":"log_line","seq":1,"text":"after"}\n')
    assert [event.text for event in reader.read_new()] == ["after"]
    assert reader.num_bad_lines == 1


def test_each_flipped_bit_is_reported_or_changes_nothing(tmp_path, run, events):
    """F12: no figure of a run is another one because a bit of its log is."""
    path = tmp_path / "events.jsonl"
    with EventWriter(path, clock=lambda: 1_700_000_000.0) as writer:
        for event in list(events(run))[:12]:
            writer.write(event)
    whole, written = path.read_bytes(), read_all(path)
    silent = []
    for bit in range(0, 8 * len(whole), 3):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        reader = EventReader(path)
        found = reader.read_new()
        if found != written and not (reader.damage_words or reader.has_torn_end):
            silent.append(bit)
    assert not silent
    assert len(whole) > 1_000


def test_a_log_without_checksums_is_read_as_it_is(tmp_path, run, events):
    """Logs of an earlier version, and one that a later version has gone on with."""
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        written = [writer.write(event) for event in events(run)]
    path.write_bytes(re.sub(rb',"c":"[0-9a-f]{4}"}\n', b"}\n", path.read_bytes()))
    assert b'"c":"' not in path.read_bytes()
    with EventWriter(path) as writer:
        written.append(writer.write(LogLine(text="gone on")))
    reader = EventReader(path)
    assert reader.read_new() == written
    assert not reader.damage_words
    assert path.read_bytes().count(b',"c":"') == 1


def test_missing_events_are_reported(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"event":"log_line","seq":5,"text":"five"}\n')
    reader = EventReader(path)
    assert [event.seq for event in reader.read_new()] == [5]
    assert "1 to 4 are missing" in reader.warnings[0]


def test_the_last_event_keeps_its_error(tmp_path):
    path = tmp_path / "events.jsonl"
    error = ErrorParts(what="It went wrong.", fix="Try again.")
    with EventWriter(path) as writer:
        writer.write(RunFinished(outcome="failed", run="r", seconds=1, epochs_done=0, error=error))
    assert read_all(path)[0].error == error
