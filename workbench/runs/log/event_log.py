"""The event log of a run: one JSON line an event, appended by one trainer, read by any process.

A line is at most 64 KiB, numbered without gaps; only the names of very many classes, logged
once by each trainer, make a longer one. What is torn or garbled in the file is
counted and passed over, never raised: a damaged line must not take the window down.
A line ends in a checksum of what precedes it: a changed bit is damage, never another figure. Lines
of older logs have none.
"""

from __future__ import annotations

import binascii
import contextlib
import errno
import io
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from workbench.core.storage.foreign_file import open_foreign, size_of, tail_bytes
from workbench.core.storage.json_file import DAMAGED
from workbench.errors import WireError
from workbench.protocol.bases import decoder_of
from workbench.protocol.events import (
    Batch,
    CheckpointKept,
    DataReady,
    Heartbeat,
    LogLine,
    PhaseChanged,
    RunEvent,
    TimeSpent,
)
from workbench.protocol.wire import error_parts
from workbench.runs.log.append_file import AppendFile, cannot_write, writing

LINE_LIMIT = 64 * 1024
LONGEST_LINE = 4 * 1024 * 1024
"""Room for 10,000 names of classes of 100 characters each; readers keep no more of a line."""

MOST_LOG_BYTES = 512 * 1024 * 1024
"""What is read of a log: the steps of some 10 million batches."""

_CHUNK = 1 << 20
_WHOLE_BYTES = 64 * 1024 * 1024
_HEAD_BYTES = LONGEST_LINE + (1 << 20)
_MAX_LOG_TEXT = 8_000
_MAX_WARNINGS = 20
_MOST_SAID = 4
_BATCHES_PER_LINE = 1_000
_MOST_WAITING = 16 * 1024 * 1024
_CHECKED = re.compile(rb'(.*),"c":"([0-9a-f]{4})"\}\s*', re.DOTALL)
_CHECKSUM_KEY = re.compile(rb',"c":"[^"]*"\}\s*$')
_PASSING = (Heartbeat, PhaseChanged, TimeSpent, LogLine)

E = TypeVar("E", bound=RunEvent)

_encoder = msgspec.json.Encoder()
_decoder = decoder_of(RunEvent)


class EventWriter:
    """Appends events to a log, stamped by `clock` (seconds since the epoch), from any thread.

    Opening a log that a killed trainer left behind continues its numbers; raises SaveError. A
    disk that cannot be written to stops nothing: events wait in memory, the first line that fits
    gives the reason, and all are written in order when there is room again.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._seq, is_torn = _end_of(path)
        self._kept = CheckpointKept(step=0, epoch=0)
        self._is_logged = False
        with writing(path):
            self._file = AppendFile(path)
        if is_torn:
            self._file.append(b"\n")

    @property
    def is_full(self) -> bool:
        """So much waits to be written that nothing more should be logged for now."""
        return self._file.waiting_bytes > _MOST_WAITING

    def write(self, event: E) -> E:
        """Numbers, stamps and appends an event; returns it as written (of several lines, the last).

        Long Batch events become several lines, long texts and lists are cut. While `is_full`,
        events that only report the current state are dropped. Raises OSError where the log was
        closed, WireError where the event cannot be brought under the limit of a line.
        """
        with self._lock:
            if self.is_full and isinstance(event, _PASSING):
                self._file.flush()
                return event
            written = event
            for part in _parts(event):
                written = self._append(part)  # type: ignore[assignment]
            self._log_problem()
            if isinstance(event, CheckpointKept) and event.problem is None:
                self._kept = event
        return written

    def _log_problem(self) -> None:
        """Logs once that the disk is full, in the room that was kept for it."""
        if not self._file.has_given_up_reserve:
            self._is_logged = False
        elif not self._is_logged:
            self._is_logged = True
            full = cannot_write(self._path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
            self._append(msgspec.structs.replace(self._kept, problem=error_parts(full)))

    def flush(self) -> bool:
        """Tries to write what waits; returns whether all of it is written."""
        with self._lock:
            return self._file.flush()

    def secure(self) -> None:
        """Waits until the disk has everything written so far; raises SaveError."""
        self.flush()
        self._file.sync()  # not under the lock: a slow disk must not hold up the training

    def _append(self, event: RunEvent) -> RunEvent:
        numbered = msgspec.structs.replace(event, seq=self._seq + 1, time=round(self._clock(), 3))
        line = _checked(_encoder.encode(numbered)) + b"\n"
        limit = LONGEST_LINE if isinstance(event, DataReady) else LINE_LIMIT
        if len(line) > limit:
            raise WireError(
                "An event is too long for the log.",
                where=type(event).__name__,
                received=f"{len(line):,} bytes",
                expected=f"at most {limit:,} bytes",
            )
        self._file.append(line)
        self._seq += 1
        return numbered

    def close(self) -> None:
        """Closes the file; later writes raise OSError."""
        with self._lock:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _end_of(path: Path) -> tuple[int, bool]:
    """The last number in a log, and whether its last line is torn (then all of it is read)."""
    *lines, rest = tail_bytes(path, 2 * LINE_LIMIT).split(b"\n")
    last = [event.seq for line in lines[-2:] if (event := decode_line(line)) is not None]
    if len(last) == 2 and last[1] == last[0] + 1 and not rest:
        return last[1], False
    reader = EventReader(path)
    while reader.read_new():
        pass
    return reader.last_seq, reader.has_torn_end


def _parts(event: RunEvent) -> Iterator[RunEvent]:
    if isinstance(event, Batch) and len(event.losses) > _BATCHES_PER_LINE:
        yield from _batch_parts(event)
    elif isinstance(event, LogLine) and len(event.text) > _MAX_LOG_TEXT:
        yield msgspec.structs.replace(event, text=event.text[:_MAX_LOG_TEXT] + " ...")
    elif isinstance(event, DataReady):
        yield _fitting(event)
    else:
        yield event


def _batch_parts(event: Batch) -> Iterator[Batch]:
    for start in range(0, len(event.losses), _BATCHES_PER_LINE):
        losses = event.losses[start : start + _BATCHES_PER_LINE]
        accuracies = event.accuracies[start : start + _BATCHES_PER_LINE]
        yield msgspec.structs.replace(
            event,
            step=event.first_step + start + len(losses) - 1,
            first_step=event.first_step + start,
            losses=losses,
            accuracies=accuracies,
            loss=losses[-1],
            accuracy=accuracies[-1] if accuracies else None,
        )


def _fitting(event: DataReady) -> DataReady:
    """Keeps as many bad files as half a line holds; the data panel lists all of them."""
    files = event.bad_files
    while len(_encoder.encode(files)) > LINE_LIMIT // 2:
        files = files[: len(files) // 2]
    return msgspec.structs.replace(event, bad_files=files)


class EventReader:
    """Reads a log from where it left off; the log may grow, or not exist yet.

    Attributes:
        warnings: Words about the first lines that were passed over.
        num_bad_lines: How many lines were passed over.
        last_seq: Number of the last event read.
        is_too_long: What follows is not read, as there is too much of it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""
        self._is_skipping = False
        self.warnings: list[str] = []
        self.num_bad_lines = 0
        self.last_seq = 0
        self._num_skipped = 0
        self._to_tell = ""
        self.is_too_long = False
        self._last_time = 0.0

    @property
    def has_torn_end(self) -> bool:
        """True when the file ends within a line."""
        return bool(self._rest) or self._is_skipping

    @property
    def damage_words(self) -> str:
        """What was passed over, as sentences; "" where all lines read so far are whole."""
        if not self.num_bad_lines:
            return ""
        more = ", and more" if self.num_bad_lines > _MOST_SAID else ""
        said = "; ".join(self.warnings[:_MOST_SAID])
        return f"The log of the run is damaged, so events are left out: {said}{more}."

    def read_new(self, max_events: int = 5_000) -> list[RunEvent]:
        """The events since the last call, at most so many; [] when there are none. Where a log is
        too long to be read further, a line in place of the rest says so.
        """
        found = [event for line in self._lines(max_events) if (event := self._decode(line))]
        if self._to_tell:
            words, self._to_tell = f"The log of the run is too long: {self._to_tell}.", ""
            told = LogLine(seq=self.last_seq, time=self._last_time, text=words, level="warning")
            found.append(told)
        return found

    def _lines(self, max_lines: int) -> list[bytes]:
        lines: list[bytes] = []
        while True:
            complete = self._take_complete(max_lines - len(lines))
            lines += complete
            if len(lines) >= max_lines or not self._fill():
                return lines

    def _take_complete(self, count: int) -> list[bytes]:
        *complete, rest = self._rest.split(b"\n", count)
        if len(complete) < count and len(rest) > LONGEST_LINE:
            # No end in sight: forget it, so that no file fills the memory.
            if not self._is_skipping:
                self._warn("a line is longer than 4 MiB")
            self._num_skipped += len(rest)
            self._is_skipping, rest = True, b""
        if complete and self._is_skipping:
            self._is_skipping = False
            complete = complete[1:]
        self._rest = rest
        return complete

    def _fill(self) -> bool:
        try:
            with open_foreign(self._path) as file:
                if self._offset >= MOST_LOG_BYTES or self._num_skipped > _WHOLE_BYTES:
                    self._warn_of_the_rest()
                    return False
                if size_of(file) < self._offset:
                    self._warn("the log became shorter")
                    self._offset, self._rest = 0, b""
                file.seek(self._offset)
                data = file.read(_CHUNK)
        except OSError:
            return False
        self._offset += len(data)
        self._rest += data
        return bool(data)

    def _decode(self, line: bytes) -> RunEvent | None:
        if not line.strip():
            return None
        if len(line) > LONGEST_LINE:
            self._warn("a line is longer than 4 MiB")
            return None
        try:
            event = _decode_checked(line)
        except DAMAGED as error:
            self._warn(f"line after event {self.last_seq}: {error}")
            return None
        problem = _problem(event, self.last_seq)
        if problem:
            self._warn(f"event {event.seq}: {problem}")
            return None
        if event.seq > self.last_seq + 1:
            self._warn(f"events {self.last_seq + 1} to {event.seq - 1} are missing")
        self.last_seq, self._last_time = event.seq, event.time
        return event

    def _warn_of_the_rest(self) -> None:
        words = f"what follows byte {self._offset:,} is not read"
        if words not in self.warnings:
            self._warn(words)
            self._to_tell, self.is_too_long = words, True

    def _warn(self, words: str) -> None:
        self.num_bad_lines += 1
        if len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(words)


def decode_line(line: bytes) -> RunEvent | None:
    """The event of one line, or None when the line is not one."""
    try:
        return _decode_checked(line)
    except DAMAGED:
        return None


def _checked(line: bytes) -> bytes:
    """An encoded event with the checksum of its bytes as its last field."""
    return b'%s,"c":"%04x"}' % (line[:-1], _checksum(line[:-1]))


def _checksum(data: bytes) -> int:
    """16 bits: each single changed bit, and each run of up to 16, makes another one (CRC-CCITT)."""
    return binascii.crc_hqx(data, 0xFFFF)


def _decode_checked(line: bytes) -> RunEvent:
    """The event of a line; raises one of DAMAGED, also where its checksum is another's."""
    if _CHECKSUM_KEY.search(line, max(0, len(line) - 40)):
        found = _CHECKED.fullmatch(line)
        if found is None or int(found[2], 16) != _checksum(found[1]):
            raise msgspec.DecodeError("its checksum does not match")
    return _decoder.decode(line)


def complete_lines(path: Path) -> Iterator[bytes]:
    """The lines of a log with their ends, for who needs few of them; of a very long one those of
    its first and last 32 MiB. A line of more than LONGEST_LINE, or still being written, is none.
    """
    with contextlib.suppress(OSError), open_foreign(path) as file:
        size, half = size_of(file), _WHOLE_BYTES // 2
        if size <= _WHOLE_BYTES:
            yield from _lines_up_to(file, size)
            return
        yield from _lines_up_to(file, half)
        file.seek(size - half)
        file.readline(half)  # a part of one
        yield from _lines_up_to(file, size)


def left_out_words(path: Path) -> str:
    """What `complete_lines` leaves out of a log, as a sentence; "" for nothing."""
    with contextlib.suppress(OSError), open_foreign(path) as file:
        if size_of(file) > _WHOLE_BYTES:
            most = f"{_WHOLE_BYTES // 1024**2} MiB"
            return f"Its log is longer than {most}: the figures leave out what is in its middle."
    return ""


def _lines_up_to(file: io.BufferedReader, end: int) -> Iterator[bytes]:
    place, is_part = file.tell(), False
    while place < end and (line := file.readline(min(LONGEST_LINE, end - place))):
        place += len(line)
        is_whole = line.endswith(b"\n")
        if is_whole and not is_part:
            yield line
        is_part = not is_whole


def first_of(path: Path, kind: type[E]) -> E | None:
    """The first event of a kind that a trainer logs before it trains; None without one."""
    start = f'{{"event":"{kind.__struct_config__.tag}"'.encode()
    with contextlib.suppress(OSError), open_foreign(path) as file:
        while file.tell() < _HEAD_BYTES and (line := file.readline(LONGEST_LINE)):
            event = decode_line(line) if line.startswith(start) else None
            if isinstance(event, kind):
                return event
    return None


def _problem(event: RunEvent, last_seq: int) -> str:
    """What no trainer of ours writes, though it is well-formed; "" when all is well."""
    if event.seq <= last_seq:
        return "its number was used before"
    if isinstance(event, Batch):
        count = event.step - event.first_step + 1
        if event.first_step < 1 or not len(event.losses) == len(event.accuracies) == count:
            return "its batches do not fit its steps"
    return ""


def read_all(path: Path) -> list[RunEvent]:
    """All events of a log at once; for finished runs and tests."""
    reader = EventReader(path)
    events: list[RunEvent] = []
    while new := reader.read_new():
        events += new
    return events
