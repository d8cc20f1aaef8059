"""The frames of a TFRecord file: lengths and checksums, compared before a record is used."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from workbench.core.storage.foreign_file import open_foreign
from workbench.datasets._records.checksums import masked_checksum, masked_checksums
from workbench.errors import DatasetError
from workbench.pictures.portable.signatures import MAX_FILE_BYTES

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
