"""Images that look alike: a hash of each, a search for near hashes, and a closer comparison.

The hash is that of Zauner (2010), "Implementation and benchmarking of perceptual image hash
functions": the signs of 64 low frequencies of the discrete cosine transform of the luminance.
Mirroring an image changes the signs of the odd horizontal frequencies and no others, so that
mirrored copies are found by the same hashes. Near hashes are candidates only: small images of
both decide, so that nothing is reported which does not look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Hashes = np.ndarray[Any, np.dtype[np.uint64]]
Floats = np.ndarray[Any, np.dtype[np.float32]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

SIDE = 32
"""Side of the image that a hash is made of, in pixels."""

_GRID = 16
_COLOR_GRID = 4
_FREQUENCIES = 12
_LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)  # ITU-R BT.601

_RADIUS = 7
"""Bits that the hashes of two copies may differ in: 99% of re-encoded, resized or brightened
photos stay below. Of 8 bytes then one at least is equal, which the search relies on."""

_LIKENESS = 0.965
"""Correlation of the small luminances of two copies, at least."""

_SMALL_LIKENESS = 0.99
_SMALL_PX = 64
"""Small images have little detail: different digits or shirts are alike to 0.98."""

_COLOR_DISTANCE = 16.0
"""Mean difference of the colors, of 255, at most: the same form in another color is another
image."""

_FLAT = 6.0
"""Standard deviation of the luminance, of 255, below which there is nothing to compare."""

_BLOCK = 1 << 21
"""Pairs compared at a time: their hashes fit into the processor's cache."""

MAX_PAIRS = 200_000
"""Pairs that are kept: images that are all alike have no more to tell."""


def _frequencies() -> list[tuple[int, int]]:
    """(vertical, horizontal), the lowest first, without the mean."""
    every = ((v, h) for v in range(_FREQUENCIES) for h in range(_FREQUENCIES) if v + h)
    return sorted(every, key=lambda pair: (sum(pair), pair))[:64]


_CHOSEN = _frequencies()
_COSINES = np.cos(
    np.pi * (2 * np.arange(SIDE)[None] + 1) * np.arange(_FREQUENCIES)[:, None] / (2 * SIDE)
).astype(np.float32)
_ROWS, _COLUMNS = (np.array(axis) for axis in zip(*_CHOSEN, strict=True))


def _as_hashes(bits: np.ndarray[Any, np.dtype[np.bool_]]) -> Hashes:
    packed: Hashes = np.ascontiguousarray(np.packbits(bits, axis=1)).view(np.uint64)[:, 0]
    return packed


_MIRROR = _as_hashes((_COLUMNS % 2 == 1)[None])[0]
"""The bits that change when an image is mirrored."""


@dataclass(frozen=True)
class Looks:
    """What images look like, in 330 bytes each.

    Attributes:
        hashes: (n,) perceptual hashes.
        luminance: (n, 16, 16) uint8.
        color: (n, 4, 4, 2) int8: half of red and of blue above the luminance.
    """

    hashes: Hashes
    luminance: Pixels
    color: np.ndarray[Any, np.dtype[np.int8]]

    @classmethod
    def of(cls, small: Pixels) -> Looks:
        """Perceptual hashes of thumbnails, uint8 (n, SIDE, SIDE, 3)."""
        colors = small.astype(np.float32)
        luminance = colors @ _LUMINANCE
        spectrum = _COSINES @ luminance @ _COSINES.T
        excess: Floats = (colors[..., ::2] - luminance[..., None]) * np.float32(0.5)
        return cls(
            _as_hashes(np.greater(spectrum[:, _ROWS, _COLUMNS], 0)),
            np.round(_pooled(luminance[..., None], _GRID)[..., 0]).astype(np.uint8),
            np.round(_pooled(excess, _COLOR_GRID)).astype(np.int8),
        )

    @classmethod
    def empty(cls, count: int) -> Looks:
        """Room for some images, without content."""
        return cls(
            np.zeros(count, np.uint64),
            np.zeros((count, _GRID, _GRID), np.uint8),
            np.zeros((count, _COLOR_GRID, _COLOR_GRID, 2), np.int8),
        )

    @classmethod
    def joined(cls, several: Sequence[Looks]) -> Looks:
        """Concatenates several."""
        return cls(
            np.concatenate([each.hashes for each in several]),
            np.concatenate([each.luminance for each in several]),
            np.concatenate([each.color for each in several]),
        )

    def put(self, rows: Numbers, looks: Looks) -> None:
        """Fills some rows."""
        self.hashes[rows] = looks.hashes
        self.luminance[rows] = looks.luminance
        self.color[rows] = looks.color

    def pick(self, rows: Numbers) -> Looks:
        """The entries of these rows, in this order."""
        return Looks(self.hashes[rows], self.luminance[rows], self.color[rows])


def _pooled(values: Floats, side: int) -> Floats:
    """(n, SIDE, SIDE, channels) as means of (n, side, side, channels)."""
    n, step = len(values), SIDE // side
    pooled: Floats = values.reshape(n, side, step, side, step, -1).mean(axis=(2, 4))
    return pooled


@dataclass(frozen=True)
class Group:
    """Rows of images that are the same, or nearly the same.

    Attributes:
        rows: At least two, ascending.
        is_exact: They have the same content.
        is_mirrored: Some are mirrored copies.
    """

    rows: tuple[int, ...]
    is_exact: bool
    is_mirrored: bool = False


def groups(
    contents: np.ndarray[Any, Any], looks: Looks, readable: Numbers, short_sides: Numbers
) -> tuple[Group, ...]:
    """Images that are the same, or nearly.

    Args:
        contents: (n,) id of each image: equal ids, equal images.
        looks: Hash, luminance and color of each image.
        readable: Rows that are compared.
        short_sides: (n,) in pixels.

    Returns:
        Groups without a row in common, by their first row.
    """
    _, first, inverse = np.unique(contents[readable], return_index=True, return_inverse=True)
    members: list[list[int]] = [[] for _ in first]
    for row, number in zip(readable.tolist(), inverse.tolist(), strict=True):
        members[number].append(row)
    one_each = readable[first]
    pairs, mirrored = near_pairs(looks.pick(one_each), short_sides[one_each])
    stars = _stars(pairs, mirrored)
    in_star = {number for star, _ in stars for number in star}
    found = [
        Group(tuple(sorted(row for number in star for row in members[number])), False, is_mirrored)
        for star, is_mirrored in stars
    ]
    found += [
        Group(tuple(rows), True)
        for number, rows in enumerate(members)
        if len(rows) > 1 and number not in in_star
    ]
    return tuple(sorted(found, key=lambda group: group.rows))


def _stars(pairs: Numbers, mirrored: Mask) -> list[tuple[list[int], bool]]:
    """Groups of pairs: one image and all that are like it, so that a chain of small changes does
    not join images which differ.
    """
    neighbors: dict[int, dict[int, bool]] = {}
    for (a, b), is_mirrored in zip(pairs.tolist(), mirrored.tolist(), strict=True):
        neighbors.setdefault(a, {})[b] = is_mirrored
        neighbors.setdefault(b, {})[a] = is_mirrored
    stars: list[tuple[list[int], bool]] = []
    taken: set[int] = set()
    for center in sorted(neighbors, key=lambda each: (-len(neighbors[each]), each)):
        around = {n: flag for n, flag in neighbors[center].items() if n not in taken}
        if center in taken or not around:
            continue
        taken.update((center, *around))
        stars.append(([center, *around], any(around.values())))
    return stars


def near_pairs(looks: Looks, short_sides: Numbers) -> tuple[Numbers, Mask]:
    """Pairs of images that look alike: (m, 2) ascending in each pair, and (m,) whether one is the
    mirrored other.
    """
    vivid = np.flatnonzero(looks.luminance.std(axis=(1, 2)) >= _FLAT)
    compared, sides = looks.pick(vivid), short_sides[vivid]
    pairs: list[Numbers] = []
    flags: list[Mask] = []
    total = 0
    for is_mirrored in (False, True):
        for candidates in _candidates(compared.hashes, is_mirrored=is_mirrored):
            good = candidates[_is_alike(compared, candidates, sides, is_mirrored=is_mirrored)]
            pairs.append(vivid[good])
            flags.append(np.full(len(good), is_mirrored))
            total += len(good)
            if total > MAX_PAIRS:
                break
    if not total:
        return np.zeros((0, 2), np.int64), np.zeros(0, np.bool_)
    joined, first = np.unique(np.concatenate(pairs), axis=0, return_index=True)
    return joined, np.concatenate(flags)[first]


def _candidates(hashes: Hashes, *, is_mirrored: bool) -> Iterator[Numbers]:
    """Blocks of pairs (m, 2) whose hashes differ in at most _RADIUS bits, each pair once: they have
    one of 8 bytes in common, by which they are looked up.
    """
    others = hashes ^ _MIRROR if is_mirrored else hashes
    for byte in range(8):
        keys, other_keys = _byte(hashes, byte), _byte(others, byte)
        order, other_order = np.argsort(keys, kind="stable"), np.argsort(other_keys, kind="stable")
        values = np.arange(257)
        ends = np.searchsorted(keys[order], values)
        other_ends = np.searchsorted(other_keys[other_order], values)
        for value in range(256):
            here = order[ends[value] : ends[value + 1]]
            there = other_order[other_ends[value] : other_ends[value + 1]]
            yield from _near(hashes, others, here, there, byte)


def _byte(hashes: Hashes, number: int) -> Hashes:
    byte: Hashes = (hashes >> np.uint64(8 * number)) & np.uint64(0xFF)
    return byte


def _near(
    hashes: Hashes, others: Hashes, here: Numbers, there: Numbers, byte: int
) -> Iterator[Numbers]:
    """Near pairs of two lists that have one byte in common, but none below it: those were found
    by that one.
    """
    if not len(here) or not len(there):
        return
    step = max(1, _BLOCK // len(there))
    for start in range(0, len(here), step):
        rows = here[start : start + step]
        different = hashes[rows][:, None] ^ others[there][None]
        i, j = np.nonzero(_ones(different) <= _RADIUS)
        a, b, bits = rows[i], there[j], different[i, j]
        is_new = a < b
        for lower in range(byte):
            is_new &= _byte(bits, lower) != 0
        if is_new.any():
            yield np.stack([a[is_new], b[is_new]], axis=1)


_COUNTS = np.array([value.bit_count() for value in range(1 << 16)], np.uint8)


def _ones_by_table(values: Hashes) -> Pixels:
    """How many bits of each value are set."""
    pieces = np.ascontiguousarray(values).view(np.uint16).reshape(*values.shape, 4)
    counts: Pixels = _COUNTS[pieces].sum(axis=-1, dtype=np.uint8)
    return counts


_ones: Callable[[Hashes], Pixels] = getattr(np, "bitwise_count", _ones_by_table)  # from NumPy 2 on


def _is_alike(looks: Looks, pairs: Numbers, sides: Numbers, *, is_mirrored: bool) -> Mask:
    """Mask of the pairs whose thumbnails look alike, bool (n,)."""
    found = [
        _compare(looks.pick(block[:, 0]), looks.pick(block[:, 1]), is_mirrored=is_mirrored)
        for block in np.array_split(pairs, range(_BLOCK >> 8, len(pairs), _BLOCK >> 8))
    ]
    likeness = np.concatenate([each[0] for each in found])
    distance = np.concatenate([each[1] for each in found])
    is_small = sides[pairs].min(axis=1) < _SMALL_PX
    wanted = np.where(is_small, _SMALL_LIKENESS, _LIKENESS)
    alike: Mask = (likeness >= wanted) & (distance <= _COLOR_DISTANCE)
    return alike


def _compare(a: Looks, b: Looks, *, is_mirrored: bool) -> tuple[Floats, Floats]:
    """(m,) correlation of the luminances, and mean difference of the colors, of pairs."""
    luminance, color = b.luminance, b.color
    if is_mirrored:
        luminance, color = luminance[:, :, ::-1], color[:, :, ::-1]
    first, second = _centered(a.luminance), _centered(luminance)
    norms = np.sqrt((first * first).sum(axis=1) * (second * second).sum(axis=1))
    likeness: Floats = (first * second).sum(axis=1) / np.maximum(norms, 1e-6)
    difference = np.abs(a.color.astype(np.float32) - color.astype(np.float32))
    return likeness, 2 * difference.mean(axis=(1, 2, 3))


def _centered(luminance: Pixels) -> Floats:
    flat = luminance.reshape(len(luminance), -1).astype(np.float32)
    centered: Floats = flat - flat.mean(axis=1, keepdims=True)
    return centered
