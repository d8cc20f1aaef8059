"""The whole model as a `.keras` file: plain Keras opens it, and so does Workbench."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from workbench.core.specs import ExportReader, ExportSpec
from workbench.exports._lite import KERAS

CARD_MEMBER = "workbench.json"


def _write(context: Any, path: str) -> None:
    context.model.save(path)
    # Keras reads its own members and leaves others alone; ours makes the file classify
    # on its own in Workbench: class names, fit, graph.
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CARD_MEMBER, context.card_json())
        if context.references_file is not None:
            archive.writestr(context.references_name, context.references_file)
    context.compare_keras(Path(path))


SPEC = ExportSpec(
    key="keras",
    title="Keras model",
    summary="Architecture and weights in one file for plain Keras. Takes raw images, 0 to 255: "
    "the preprocessing is included.",
    suffix=".keras",
    group="Keras and Python",
    write=_write,
    reader=ExportReader(
        runtime=KERAS,
        section="keras",
        needs_tensorflow=True,
        has_softmax=False,
    ),
)
