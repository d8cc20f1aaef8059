"""The weights as an `.npz` file: one array per variable, by its path in the model."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import ExportSpec
from workbench.core.storage.save import save_bytes


def _write(context: Any, path: str) -> None:
    data = io.BytesIO()
    np.savez(data, **{weight.path: weight.numpy() for weight in context.model.weights})
    save_bytes(Path(path), data.getvalue())


SPEC = ExportSpec(
    key="numpy_weights",
    title="NumPy weights",
    summary="The weights alone as arrays, for programs without Keras.",
    suffix=".npz",
    write=_write,
)
