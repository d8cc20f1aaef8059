"""The frames of a TFRecord file: lengths and checksums, compared before a record is used."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from workbench.core.storage.foreign_file import open_foreign
from workbench.errors import DatasetError
from workbench.pictures.portable.signatures import MAX_FILE_BYTES

# checksums -----------------------------------------------------------------------------------
# CRC-32C as TFRecord files have it, of many pieces at once: numpy instead of a loop over bytes.
#
# Pieces are cut into lanes of equal length, whose checksums are computed side by side; those of a
# piece are joined by what a lane of zeros does to a checksum (RFC 3720, appendix B.4; masked as in
# tensorflow/core/lib/hash/crc32c.h).

_POLYNOMIAL = 0x82F63B78
_LANE = 512
_ONES = 0xFFFFFFFF
_MASK_DELTA = 0xA282EAD8

Words = np.ndarray[Any, np.dtype[np.uint32]]


def masked_checksums(pieces: Sequence[bytes]) -> list[int]:
    """The masked CRC-32C of each piece."""
    counts = [-(-len(piece) // _LANE) for piece in pieces]
    lanes = np.zeros((sum(counts), _LANE), np.uint8)
    flat, start = lanes.reshape(-1), 0
    for piece, count in zip(pieces, counts, strict=True):
        end = start + count * _LANE
        # Zeros in front change nothing while the state is zero: the start value comes after.
        flat[end - len(piece) : end] = np.frombuffer(piece, np.uint8)
        start = end
    states = _lane_states(lanes).tolist()
    found, place = [], 0
    for piece, count in zip(pieces, counts, strict=True):
        found.append(_masked(_joined(states[place : place + count]) ^ _start(len(piece)) ^ _ONES))
        place += count
    return found


def masked_checksum(piece: bytes) -> int:
    """The masked CRC-32C of a few bytes."""
    state, table = _ONES, _short_table()
    for byte in piece:
        state = table[(state ^ byte) & 255] ^ state >> 8
    return _masked(state ^ _ONES)


@cache
def _short_table() -> list[int]:
    return [int(value) for value in _table()]


def _masked(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ONES


def _lane_states(lanes: np.ndarray[Any, np.dtype[np.uint8]]) -> Words:
    """The state after each lane, from zero."""
    table, columns = _table(), np.ascontiguousarray(lanes.T)
    states = np.zeros(len(lanes), np.uint32)
    for column in columns:
        states = table[(states ^ column) & 0xFF] ^ (states >> np.uint32(8))
    return states


def _joined(states: Sequence[int]) -> int:
    """The state after several lanes."""
    first, second, third, fourth = _lane_tables()
    state = 0
    for lane in states:
        state = (
            first[state & 255] ^ second[state >> 8 & 255] ^ third[state >> 16 & 255]
            ^ fourth[state >> 24] ^ lane
        )  # fmt: skip
    return state


@cache
def _start(length: int) -> int:
    """What the start value of all ones has become after so many bytes."""
    state, operator = _ONES, _byte_operator()
    while length:
        if length & 1:
            state = _applied(operator, state)
        operator = _squared(operator)
        length >>= 1
    return state


@cache
def _table() -> Words:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = (table >> np.uint32(1)) ^ (table & np.uint32(1)) * np.uint32(_POLYNOMIAL)
    return table


Operator = tuple[int, ...]
"""What a number of zeros makes of a state: the images of its 32 bits."""


@cache
def _byte_operator() -> Operator:
    table = _table().tolist()
    return tuple(table[(1 << bit) & 0xFF] ^ (1 << bit) >> 8 for bit in range(32))


def _applied(operator: Operator, state: int) -> int:
    image = 0
    for bit in range(32):
        if state >> bit & 1:
            image ^= operator[bit]
    return image


@cache
def _squared(operator: Operator) -> Operator:
    return tuple(_applied(operator, image) for image in operator)


@cache
def _lane_tables() -> tuple[list[int], ...]:
    """What a lane of zeros makes of each byte of a state."""
    operator = _byte_operator()
    for _ in range(_LANE.bit_length() - 1):
        operator = _squared(operator)
    return tuple(
        [_applied(operator, value << shift) for value in range(256)] for shift in (0, 8, 16, 24)
    )


# example -------------------------------------------------------------------------------------
# tf.train.Example out of its bytes: a reader for these few messages of Protocol Buffers alone.
#
# Example {1: Features {1: entries {1: name, 2: Feature}}}; a Feature is a list of bytes (1), floats
# (2) or whole numbers (3), each list a message whose field 1 holds the values, packed or not.

_MAX_FEATURES = 10_000
_MAX_VALUES = 10_000_000
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10


class BadExampleError(Exception):
    """Words why bytes are no tf.train.Example."""


@dataclass(frozen=True)
class Feature:
    """The values of one feature, of one kind.

    Attributes:
        texts: A list of bytes.
        numbers: Whole numbers or floats; None for bytes.
        is_whole: Whether the numbers are whole.
    """

    texts: tuple[bytes, ...] = ()
    numbers: tuple[float, ...] | None = None
    is_whole: bool = False

    def words(self) -> str:
        """Kind and count, for messages."""
        if self.numbers is None:
            return f"{len(self.texts)} × bytes" if len(self.texts) != 1 else "bytes"
        kind = "whole number" if self.is_whole else "float"
        return kind if len(self.numbers) == 1 else f"{len(self.numbers)} × {kind}"


def read_example(data: bytes) -> dict[str, Feature]:
    """The features of an example by name.

    Raises:
        BadExampleError: the bytes are no example.
    """
    found: dict[str, Feature] = {}
    view = memoryview(data)
    for field, features in _fields(view):
        for _, entry in _fields(_message(features)) if field == 1 else ():
            name, feature = _entry(_message(entry))
            found[name] = feature
            if len(found) > _MAX_FEATURES:
                raise BadExampleError(f"more than {_MAX_FEATURES:,} features")
    return found


def _entry(view: memoryview) -> tuple[str, Feature]:
    name, feature = "", Feature()
    for field, value in _fields(view):
        if field == 1:
            name = bytes(_message(value)).decode("utf-8", "replace")
        elif field == 2:
            feature = _feature(_message(value))
    return name, feature


def _feature(view: memoryview) -> Feature:
    for kind, value in _fields(view):
        values = [each for field, each in _fields(_message(value)) if field == 1]
        if kind == 1:
            return Feature(texts=tuple(bytes(_message(each)) for each in values))
        if kind == 2:
            return Feature(numbers=tuple(number for each in values for number in _floats(each)))
        if kind == 3:
            whole = tuple(number for each in values for number in _whole(each))
            return Feature(numbers=whole, is_whole=True)
    return Feature()


Value = memoryview | int
"""A message or bytes; or a number."""


def _fields(view: memoryview) -> Iterator[tuple[int, Value]]:
    """Number and value of each field of a message."""
    place = 0
    while place < len(view):
        tag, place = _varint(view, place)
        kind = tag & 7
        if kind == _VARINT:
            value, place = _varint(view, place)
            yield tag >> 3, value
            continue
        if kind == _BYTES:
            size, place = _varint(view, place)
        elif kind in {_FIXED64, _FIXED32}:
            size = 8 if kind == _FIXED64 else 4
        else:
            raise BadExampleError(f"a field of kind {kind}")
        if size > len(view) - place:
            raise BadExampleError("a field that is longer than its message")
        yield tag >> 3, view[place : place + size]
        place += size


def _varint(view: memoryview, place: int) -> tuple[int, int]:
    value = 0
    for count in range(_MAX_VARINT_BYTES):
        if place + count >= len(view):
            break
        byte = view[place + count]
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value & (1 << 64) - 1, place + count + 1
    raise BadExampleError("a number that does not end")


def _message(value: Value) -> memoryview:
    if isinstance(value, int):
        raise BadExampleError("a number where a message belongs")
    return value


def _floats(value: Value) -> list[float]:
    data = _message(value)
    if len(data) % 4 or len(data) > 4 * _MAX_VALUES:
        raise BadExampleError("floats of a wrong size")
    return [float(number) for number in np.frombuffer(data, "<f4")]


def _whole(value: Value) -> Iterator[int]:
    if isinstance(value, int):
        yield _signed(value)
        return
    place = 0
    while place < len(value):
        number, place = _varint(value, place)
        yield _signed(number)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


# frames --------------------------------------------------------------------------------------

MAX_RECORD_BYTES = MAX_FILE_BYTES + (1 << 20)
_HEAD_BYTES, _FOOT_BYTES = 12, 4
_BATCH_BYTES = 8 << 20
_GZIP = b"\x1f\x8b"
_RATIO, _SLACK_BYTES = 200, 256 << 20  # of a compressed file


@dataclass(frozen=True)
class Record:
    """One record of a file.

    Attributes:
        number: Its place, from 0.
        at: Share of the file that is read where the record ends, 0..1.
        data: Its bytes, whose checksum is right.
    """

    number: int
    at: float
    data: bytes


def read_records(path: Path) -> Iterator[Record]:
    """The records of a file, compressed by gzip or not.

    Raises:
        DatasetError: no TFRecord file, cut off or damaged; names the record and its byte.
        OSError: it cannot be read.
    """
    size = path.stat().st_size
    with open_foreign(path) as file:
        if file.read(2) == _GZIP:
            file.seek(0)
            with gzip.GzipFile(fileobj=file) as opened:
                frames = _Frames(path, opened, _RATIO * size + _SLACK_BYTES, is_exact=False)
                yield from frames.records(lambda: file.tell() / size)
        else:
            file.seek(0)
            frames = _Frames(path, file, size, is_exact=True)
            yield from frames.records(lambda: frames.place / max(1, size))


class _Frames:
    """Reads frames: length, its checksum, data, its checksum."""

    def __init__(
        self, path: Path, file: IO[bytes] | gzip.GzipFile, size: int, *, is_exact: bool
    ) -> None:
        self._path, self._file, self._size, self._is_exact = path, file, size, is_exact
        self.place = self.number = 0

    def records(self, at: Callable[[], float]) -> Iterator[Record]:
        """Batches of frames are read and compared; `at` says how far that is."""
        while batch := self._batch():
            found = masked_checksums([data for data, _, _ in batch])
            number = self.number - len(batch)
            for (data, expected, place), checksum in zip(batch, found, strict=True):
                if checksum != expected:
                    raise self._refused("wrong checksum", number, place)
                yield Record(number, min(1.0, at()), data)
                number += 1

    def _batch(self) -> list[tuple[bytes, int, int]]:
        """(data, expected checksum, place) of the next records."""
        batch: list[tuple[bytes, int, int]] = []
        read = 0
        while read < _BATCH_BYTES:
            frame = self._frame()
            if frame is None:
                break
            batch.append(frame)
            read += len(frame[0]) + _HEAD_BYTES
        return batch

    def _frame(self) -> tuple[bytes, int, int] | None:
        place = self.place
        head = self._read(_HEAD_BYTES)
        if not head:
            return None
        if len(head) < _HEAD_BYTES:
            raise self._refused("cut off", self.number, place)
        length = int.from_bytes(head[:8], "little")
        if masked_checksum(head[:8]) != int.from_bytes(head[8:], "little"):
            what = "no TFRecord file" if place == 0 else "wrong checksum of the length"
            raise self._refused(what, self.number, place)
        if length > min(MAX_RECORD_BYTES, self._size - self.place - _FOOT_BYTES):
            is_cut = self._is_exact and length <= MAX_RECORD_BYTES
            words = "cut off" if is_cut else f"a record of {length:,} bytes"
            raise self._refused(words, self.number, place)
        data, foot = self._read(length), self._read(_FOOT_BYTES)
        if len(data) < length or len(foot) < _FOOT_BYTES:
            raise self._refused("cut off", self.number, place)
        self.number += 1
        return data, int.from_bytes(foot, "little"), place

    def _read(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._refused(f"damaged gzip data ({error})", self.number, self.place) from None
        self.place += len(data)
        return data

    def _refused(self, what: str, number: int, place: int) -> DatasetError:
        return DatasetError(
            f"The TFRecord file cannot be read: {what}.",
            where=str(self._path),
            received=f"record {number:,}, at byte {place:,}",
            expected="records as TensorFlow writes them",
            fix="Copy or download it again.",
        )
