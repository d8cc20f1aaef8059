"""The weights alone as `.weights.h5`: plain Keras loads them into the same architecture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.core.specs import ExportSpec
from workbench.core.storage.save import save_bytes


def _write(context: Any, path: str) -> None:
    scratch: Path = context.folder / "model.weights.h5"
    context.model.save_weights(scratch)
    context.compare_weights(scratch)
    save_bytes(Path(path), scratch.read_bytes())


SPEC = ExportSpec(
    key="weights",
    title="Keras weights",
    summary="The weights alone, for a Keras program that builds the same layers in the same "
    "order, such as the Python export.",
    suffix=".weights.h5",
    write=_write,
)
