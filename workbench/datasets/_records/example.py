"""tf.train.Example out of its bytes: a reader for these few messages of Protocol Buffers alone.

Example {1: Features {1: entries {1: name, 2: Feature}}}; a Feature is a list of bytes (1), floats
(2) or whole numbers (3), each list a message whose field 1 holds the values, packed or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

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
