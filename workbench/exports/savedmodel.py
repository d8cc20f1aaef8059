"""A SavedModel: a folder for TensorFlow and its Serving, with a signature for image files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.core.specs import ExportReader, ExportSpec
from workbench.exports._lite import python_runtime, save
from workbench.parts import TRAIN

_FACTS = "assets.extra/workbench.json"


def _write(context: Any, path: str) -> None:
    save(context, path, has_files=not context.has_layers)
    facts = Path(path) / _FACTS
    facts.parent.mkdir()
    facts.write_bytes(context.facts_json())


SPEC = ExportSpec(
    key="savedmodel",
    title="SavedModel",
    summary="A folder for TensorFlow and TensorFlow Serving. One signature takes raw images, 0 to "
    "255, and one takes JPEG or PNG files as they are.",
    suffix="",
    group="Servers and desktops",
    order=1,
    write=_write,
    has_layers=True,
    reader=ExportReader(
        runtime=python_runtime("tensorflow", "tensorflow", TRAIN),
        section="tensorflow",
        needs_tensorflow=True,
    ),
)
