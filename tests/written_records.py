"""TFRecord files for tests, written without TensorFlow: frames and examples of Protocol Buffers."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

from workbench.datasets._records.frames import masked_checksum

Value = bytes | int | float | list[int] | list[float] | list[bytes]


def frame(data: bytes) -> bytes:
    """A record in its frame."""
    length = struct.pack("<Q", len(data))
    head = length + struct.pack("<I", masked_checksum(length))
    return head + data + struct.pack("<I", masked_checksum(data))


def example(features: Mapping[str, Value]) -> bytes:
    """A tf.train.Example."""
    entries = b"".join(
        _field(1, _field(1, k.encode()) + _field(2, _feature(v))) for k, v in features.items()
    )
    return _field(1, entries)


def write_records(path: Path, examples: Iterable[Mapping[str, Value]]) -> Path:
    """A TFRecord file of examples."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(frame(example(each)) for each in examples))
    return path


def _feature(value: Value) -> bytes:
    values = value if isinstance(value, list) else [value]
    if isinstance(values[0], bytes):
        return _field(1, b"".join(_field(1, each) for each in values))
    if isinstance(values[0], float):
        return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))
    return _field(3, _field(1, b"".join(_varint(each) for each in values)))


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
