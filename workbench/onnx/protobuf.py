"""The messages of an ONNX file as bytes: fields as numbered in onnx.proto, version 1.16."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

MAX_BYTES = 2**31 - 1
"""A longer message is no protobuf."""

_VARINT, _BYTES, _FLOAT = 0, 2, 5
_FLOAT32, _UINT8, _INT64, _BOOL = 1, 2, 7, 9
_TYPES = {"float32": _FLOAT32, "uint8": _UINT8, "int64": _INT64, "bool": _BOOL}
_IR_VERSION = 8
_DIM_PARAM, _DIM_VALUE = 2, 1


def number(field: int, value: int) -> bytes:
    """A field with a whole number."""
    return _varint(field << 3 | _VARINT) + _varint(value)


def text(field: int, value: bytes | str) -> bytes:
    """A field with text, bytes or another message."""
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | _BYTES) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def attribute(name: str, value: float | str | Sequence[int]) -> bytes:
    """AttributeProto: a number, text or whole numbers."""
    head = text(1, name)
    if isinstance(value, float):
        return head + _varint(2 << 3 | _FLOAT) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, int):
        return head + number(3, value) + number(20, 2)
    if isinstance(value, str):
        return head + text(4, value) + number(20, 3)
    return head + b"".join(number(8, each) for each in value) + number(20, 7)


def node(
    kind: str, inputs: Iterable[str], outputs: Sequence[str], attributes: dict[str, Any]
) -> bytes:
    """NodeProto: an operator, named like its first output."""
    ports = (*(text(1, each) for each in inputs), *(text(2, each) for each in outputs))
    made = (text(5, attribute(name, value)) for name, value in attributes.items())
    return b"".join((*ports, text(3, outputs[0]), text(4, kind), *made))


def tensor(name: str, array: Array) -> bytes:
    """TensorProto: a constant of float32, int64, uint8 or bool."""
    shape = b"".join(number(1, length) for length in array.shape)
    kind = number(2, _TYPES[array.dtype.name])
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return shape + kind + text(8, name) + text(9, np.ascontiguousarray(little).tobytes())


def port(name: str, kind: str, shape: Sequence[int | str]) -> bytes:
    """ValueInfoProto: an input or output of a NumPy type; a named axis has any length."""
    axes = (text(_DIM_PARAM, n) if isinstance(n, str) else number(_DIM_VALUE, n) for n in shape)
    dims = b"".join(text(1, each) for each in axes)
    return text(1, name) + text(2, text(1, number(1, _TYPES[kind]) + text(2, dims)))


def model(
    parts: Iterable[bytes], inputs: Iterable[bytes], outputs: Iterable[bytes], opset: int
) -> bytes:
    """ModelProto: `parts` are fields of the graph, operators and constants in order."""
    graph = b"".join(
        (
            *parts,
            text(2, "network"),
            *(text(11, each) for each in inputs),
            *(text(12, each) for each in outputs),
        )
    )
    operators = text(1, "") + number(2, opset)
    return number(1, _IR_VERSION) + text(2, "workbench") + text(7, graph) + text(8, operators)
