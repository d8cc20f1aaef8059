"""The check of a method: with random weights the same image must have another map."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench.worker.model.build import BuiltModel, named_variables

Array = np.ndarray[Any, np.dtype[Any]]

LEAST_SPREAD = 1e-9


@contextmanager
def random_weights(built: BuiltModel, seed: int) -> Iterator[None]:
    """Within it the network has random weights; the compiled functions stay (Adebayo et al. 2018).

    Each array keeps its numbers, in random places: so what the layers compute stays within the
    range that the next ones are made for. What was measured on the images, as a Normalization
    layer's mean is, stays.
    """
    measured = {
        id(variable)
        for layer in built.layers.values()
        if hasattr(layer, "finalize_state")
        for variable in layer.weights
    }
    variables = [each for each in named_variables(built).values() if id(each) not in measured]
    kept = [np.asarray(variable.numpy()) for variable in variables]
    random = np.random.default_rng(seed)
    try:
        for variable, values in zip(variables, kept, strict=True):
            variable.assign(random.permutation(values.ravel()).reshape(values.shape))
        yield
    finally:
        for variable, values in zip(variables, kept, strict=True):
            variable.assign(values)


def rank_correlation(first: Array, second: Array) -> float | None:
    """Spearman's, of two arrays of one shape, equal values having their mean rank: -1..1. None
    where one is the same everywhere.
    """
    a, b = _ranks(first.ravel()), _ranks(second.ravel())
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum() / spread) if spread > LEAST_SPREAD else None


def _ranks(values: Array) -> Array:
    _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[number.ravel()].astype(np.float64)
