"""CRC-32C as TFRecord files have it, of many pieces at once: numpy instead of a loop over bytes.

Pieces are cut into lanes of equal length, whose checksums are computed side by side; those of a
piece are joined by what a lane of zeros does to a checksum (RFC 3720, appendix B.4; masked as in
tensorflow/core/lib/hash/crc32c.h).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

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
