"""Checkerboards of two sizes: a data set that is computed, not loaded."""

from __future__ import annotations

import numpy as np

from workbench.core.params import IntParam, Params
from workbench.core.specs import ArrayPart, DatasetSpec, LoadContext, LoadedData

CLASS_NAMES = ("fine", "coarse")


def _part(count: int, seed: int) -> ArrayPart:
    random = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    rows, columns = np.indices((8, 8))
    boards = [(rows // (1 + label) + columns // (1 + label)) % 2 for label in labels]
    noise = random.integers(0, 56, (count, 8, 8))
    pixels = (np.stack(boards) * 200 + noise).astype(np.uint8)
    return ArrayPart(pixels[..., None], labels.astype(np.int64))


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    return LoadedData(CLASS_NAMES, _part(params["count"], 1), _part(40, 2))


SPEC = DatasetSpec(
    key="checkerboard",
    title="Checkerboards",
    summary="Computed boards with fine or coarse squares, 8 × 8.",
    license="none",
    params=(
        IntParam(
            "count", 80, "How many images to train on.", title="Images", minimum=8, maximum=10_000
        ),
    ),
    shape=(8, 8, 1),
    class_names=CLASS_NAMES,
    load=_load,
)
