"""Images as points: samples, principal components, nearest images, points within a drawn line.

Qt-free, and without any file: what the worker computes and the window selects by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.calibration import unit_rows

Floats = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int64]]
Halves = np.ndarray[Any, np.dtype[np.float16]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

MOST_COLUMNS = 512
"""Numbers that are kept of each image: a network may have a hundred thousand hidden outputs."""

SAMPLE = 1_536
"""Images by which the directions are chosen."""
MOST_SAMPLED = 32 * 2**20
"""Numbers of all those images: 128 MB."""
MOST_BASIS = 16 * 2**20
"""Numbers of the directions."""

_SEED = 8
_SPARE = 8
"""Directions that are sought beside the wanted ones, so that those are found within few rounds."""
_ROUNDS = 100
_STEADY = 1e-9
"""Relative change of the variance at which the directions are found."""


def sample_places(total: int, most: int) -> Labels:
    """At most so many of all places, in order: a random sample that is always the same."""
    if total <= most:
        return np.arange(total)
    return np.sort(np.random.default_rng(_SEED).permutation(total)[:most])


@dataclass(frozen=True)
class Features:
    """What is kept of some images' hidden outputs.

    Attributes:
        rows: Rows of length 1, float16 (n, k).
        basis: Orthonormal directions (d, k) that the outputs were reduced to before, float16; None
            where they are kept as they are.
    """

    rows: Halves
    basis: Halves | None = None

    @property
    def width(self) -> int:
        """Hidden outputs that such a row is made of."""
        kept = self.rows if self.basis is None else self.basis.T
        return int(kept.shape[1])

    def of(self, hidden: Floats) -> Floats:
        """The rows (n, k) of other hidden outputs (n, d)."""
        return reduced(hidden, self.basis)


def sample_size(width: int) -> int:
    """Images by which directions of so many outputs are chosen; 0 where they are kept as they
    are.
    """
    return 0 if width <= MOST_COLUMNS else min(SAMPLE, max(2, MOST_SAMPLED // width))


def main_directions(hidden: Floats) -> Halves:
    """The orthonormal directions (d, k) that some images' outputs (n, d), scaled to length 1, are
    described best by. The angles between images change little when all others are left out.
    """
    unit = unit_rows(hidden)
    values, vectors = np.linalg.eigh((unit @ unit.T).astype(np.float64))
    most = min(MOST_COLUMNS, max(2, MOST_BASIS // unit.shape[1]))
    chosen = [at for at in np.argsort(-values)[:most] if values[at] > 1e-6 * values.max()]
    basis = unit.T @ vectors[:, chosen].astype(np.float32)
    return np.asarray(basis / np.linalg.norm(basis, axis=0), np.float16)


def reduced(hidden: Floats, basis: Halves | None) -> Floats:
    """Rows of length 1 (n, k) of hidden outputs (n, d), along these directions where there are."""
    along = unit_rows(hidden)
    return along if basis is None else unit_rows(along @ basis.astype(np.float32))


@dataclass(frozen=True)
class Components:
    """Principal components of some rows.

    Attributes:
        points: Each row along the components, float32 (n, 2), their mean at 0.
        shares: Share of the whole variance along each component, 0..1, float64 (2,).
    """

    points: Floats
    shares: Doubles


def principal_components(rows: np.ndarray[Any, np.dtype[Any]]) -> Components:
    """The two directions in which rows (n, d) vary most, and each row along them.

    By subspace iteration (Halko, Martinsson and Tropp, "Finding Structure with Randomness", 2011):
    a full decomposition takes minutes where d is some thousands. The direction of a component is
    that in which its largest weight is positive, so that the same rows give the same map.
    """
    centered = rows.astype(np.float32)
    centered -= rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    wide = min(2 + _SPARE, *centered.shape)
    start = np.random.default_rng(_SEED).standard_normal((centered.shape[1], wide))
    weights, variances = np.linalg.qr(start)[0], np.zeros(wide)
    for _ in range(_ROUNDS):
        spread = centered.T @ (centered @ weights.astype(np.float32))
        weights, _ = np.linalg.qr(spread.astype(np.float64))
        _, singular, turned = np.linalg.svd(
            (centered @ weights.astype(np.float32)).astype(np.float64), full_matrices=False
        )
        weights, before, variances = weights @ turned.T, variances, singular**2
        if np.abs(variances - before)[:2].sum() <= _STEADY * variances[:2].sum():
            break
    return _along(centered, weights[:, :2], variances[:2])


def _along(centered: Floats, weights: Doubles, variances: Doubles) -> Components:
    largest = weights[np.abs(weights).argmax(axis=0), np.arange(weights.shape[1])]
    points = centered @ (weights * np.where(largest < 0, -1, 1)).astype(np.float32)
    whole = float(np.einsum("ij,ij->", centered, centered, dtype=np.float64))
    shares = variances / whole if whole > 0 else np.zeros_like(variances)
    lacking = 2 - points.shape[1]
    return Components(
        np.pad(points, ((0, 0), (0, lacking))).astype(np.float32), np.pad(shares, (0, lacking))
    )


def nearest(unit: Floats, of: Floats, count: int) -> tuple[Labels, Floats]:
    """The nearest rows of length 1 (n, d) to one more (d,), the nearest first.

    Returns:
        Their numbers, at most `count`; and their distances, 1 less the cosine, 0..2.
    """
    length = float(np.linalg.norm(of))
    far = 1 - unit @ (of / max(length, 1e-12)).astype(np.float32)
    count = min(count, len(far))
    found = np.argpartition(far, count - 1)[:count] if count else np.zeros(0, np.int64)
    found = found[np.lexsort((found, far[found]))]
    return found.astype(np.int64), np.maximum(far[found], 0).astype(np.float32)


def inside_polygon(points: Floats, corners: Doubles) -> Flags:
    """Which points (n, 2) are within a closed line through corners (m, 2), by the even-odd rule.

    The points are sorted by height once, so that each edge meets those beside it alone: 30,000
    points within a line of 300 corners take some milliseconds.
    """
    inside = np.zeros(len(points), bool)
    if len(corners) < 3:
        return inside
    order = np.argsort(points[:, 1], kind="stable")
    x, y = points[order, 0].astype(np.float64), points[order, 1].astype(np.float64)
    ends = np.roll(corners, -1, axis=0)
    low, high = np.minimum(corners[:, 1], ends[:, 1]), np.maximum(corners[:, 1], ends[:, 1])
    starts, stops = np.searchsorted(y, low), np.searchsorted(y, high)
    for (x1, y1), (x2, y2), start, stop in zip(corners, ends, starts, stops, strict=True):
        if start < stop:
            beside = slice(start, stop)
            inside[beside] ^= x[beside] < x1 + (y[beside] - y1) * (x2 - x1) / (y2 - y1)
    found = np.zeros(len(points), bool)
    found[order] = inside
    return found
