"""The weights alone as `.weights.h5`: plain Keras loads them into the same architecture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.core.specs import ExportSpec
from workbench.exports._lite import READER, network_of
from workbench.exports.python import script


def _write(context: Any, path: str) -> None:
    context.model.save_weights(path)
    context.compare_weights(Path(path))


def _write_program(context: Any, path: str) -> None:
    program = network_of(Path(path))
    program.write_text(script(context, program.name), encoding="utf-8")


SPEC = ExportSpec(
    key="weights",
    title="Keras weights",
    summary="The weights alone, for a Keras program that builds the same layers in the same "
    "order, such as the Python export.",
    suffix=".weights.h5",
    group="Keras and Python",
    order=1,
    write=_write,
    reader=READER,
    write_beside=_write_program,
)
