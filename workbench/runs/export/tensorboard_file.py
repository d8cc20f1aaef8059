"""TensorBoard's event files, written without TensorBoard, TensorFlow or protobuf.

A file is a sequence of TFRecords: length (uint64), masked CRC-32C of the length, data,
masked CRC-32C of the data, all little-endian. The data is a protocol buffer `Event`
(tensorflow/core/util/event.proto): 1 wall_time double, 2 step int64, 3 file_version string,
5 summary, 7 session_log. CRC-32C: RFC 3720, appendix B.4; the mask: TensorFlow's
core/lib/hash/crc32c.h.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed
_MASK_DELTA = 0xA282EAD8
_FILE_VERSION = b"brain.Event:2"
_SESSION_START = b"\x3a\x02\x08\x01"  # session_log { status: START }


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return tuple(table)


_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """The CRC-32C of some bytes; for short ones: 0.1 µs a byte."""
    value, table = 0xFFFFFFFF, _TABLE
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    value = crc32c(data)
    rotated = value >> 15 | value << 17
    return struct.pack("<I", (rotated + _MASK_DELTA) & 0xFFFFFFFF)


def record(data: bytes) -> bytes:
    """One TFRecord."""
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _varint(value: int) -> bytes:
    """A protocol buffer's whole number; negative ones as 64 bits of two's complement."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _block(tag: int, data: bytes) -> bytes:
    """A field that holds a text or a message."""
    return bytes([tag]) + _varint(len(data)) + data


def _event(wall_time: float, step: int, what: bytes) -> bytes:
    return b"\x09" + struct.pack("<d", wall_time) + b"\x10" + _varint(step) + what


def scalars_event(wall_time: float, step: int, values: Mapping[str, float]) -> bytes:
    """An Event with scalars by tag; NaN and infinity are kept."""
    summary = b"".join(
        _block(0x0A, _block(0x0A, tag.encode()) + b"\x15" + _float32(value))
        for tag, value in values.items()
    )
    return _event(wall_time, step, _block(0x2A, summary))


def _float32(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:  # larger than a float32 can be
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


class EventFile:
    """One event file, in a folder that TensorBoard is pointed at.

    Each value is on its way to the disk as soon as it is written. A run that goes on after
    a kill gets another file in the same folder. Each file begins by saying from which step
    on it tells: of what files before it tell of these steps TensorBoard forgets all, because
    it is done again. (It heeds that only from the second such word in a folder on.)

    Args:
        folder: Where; made where it is not there, in a folder that is.
        first_step: The lowest step that may be written.

    Raises:
        OSError: from every method that writes: the disk is full or the folder is gone.
    """

    def __init__(self, folder: Path, *, first_step: int = 1) -> None:
        folder.mkdir(exist_ok=True)
        number = len(list(folder.glob("events.out.tfevents.*")))
        # TensorBoard reads the files of a folder in the order of their names.
        name = f"events.out.tfevents.{int(time.time()):010d}.{number:04d}.{os.getpid()}"
        self._file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)
        self._write(_event(time.time(), 0, _block(0x1A, _FILE_VERSION)))
        self._write(_event(time.time(), first_step, _SESSION_START))

    def scalars(self, step: int, values: Mapping[str, float], *, wall_time: float) -> None:
        """Adds values by tag.

        Args:
            step: The x of the points.
            values: By tag; a slash groups tags.
            wall_time: Seconds since the epoch.
        """
        self._write(scalars_event(wall_time, step, values))

    def _write(self, event: bytes) -> None:
        data = record(event)
        if os.write(self._file, data) != len(data):
            raise OSError("a record was written in part")

    def close(self) -> None:
        """Closes the file; later writes raise OSError."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
