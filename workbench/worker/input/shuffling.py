"""Order in which images are trained on: a function of (seed, pass), nothing else.

So a run can be repeated, and continued at any step, without storing an order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

Indices = np.ndarray[Any, np.dtype[np.int64]]


def permutation(count: int, *, seed: int, epoch: int, copies: int = 1) -> Indices:
    """The order of all images in one pass: int64 (count,). With several copies of each, where
    copy k of image i is number k * count + i, the passes use one copy after another.
    """
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, epoch], np.uint64)))
    return generator.permutation(count).astype(np.int64) + count * (epoch % copies)


def whole_epochs(
    count: int, batch_size: int, *, seed: int, start_step: int = 0, copies: int = 1
) -> Iterator[Indices]:
    """Endless: each epoch's full batches, int64 (steps, batch); the rest of the pass is left
    out, another rest in each epoch. The first block begins with step `start_step` of all.
    `copies` as for `permutation`.
    """
    steps = count // batch_size
    epoch, done = divmod(start_step, steps)
    while True:
        order = permutation(count, seed=seed, epoch=epoch, copies=copies)
        yield order[: steps * batch_size].reshape(steps, batch_size)[done:]
        epoch, done = epoch + 1, 0


def endless_passes(
    count: int, batch_size: int, *, seed: int, start_step: int = 0, copies: int = 1
) -> Iterator[Indices]:
    """Endless: pass after pass without leaving any image out, int64 (steps, batch).

    For epochs of a chosen number of steps: each image comes once before any comes twice.
    The first block begins with step `start_step` of all. `copies` as for `permutation`.
    """
    epoch, done = divmod(start_step * batch_size, count)
    rest = permutation(count, seed=seed, epoch=epoch, copies=copies)[done:]
    while True:
        epoch += 1
        following = permutation(count, seed=seed, epoch=epoch, copies=copies)
        order = np.concatenate([rest, following])
        steps = len(order) // batch_size
        yield order[: steps * batch_size].reshape(steps, batch_size)
        rest = order[steps * batch_size :]


def padded_batches(count: int, batch_size: int) -> tuple[Indices, np.ndarray[Any, Any]]:
    """All images in order, the last batch filled up with image 0 at weight 0.

    Returns:
        Indices int64 (steps, batch) and weights float32 (steps, batch).
    """
    steps = -(-count // batch_size)
    indices = np.zeros(steps * batch_size, np.int64)
    indices[:count] = np.arange(count)
    weights = np.zeros(steps * batch_size, np.float32)
    weights[:count] = 1.0
    return indices.reshape(steps, batch_size), weights.reshape(steps, batch_size)
