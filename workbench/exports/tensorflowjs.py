"""A graph model of TensorFlow.js, for browsers and Node, written by our own converter."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.core.specs import ExportReader, ExportSpec
from workbench.exports._node_runtime import LIBRARY_NAME, RUNTIME, library
from workbench.exports._tensorflowjs.writing import write_graph_model

_FACTS = "workbench.json"
_MOST_IMAGES = 50
"""Images that an export is checked with: the runtime computes on one thread without vector
instructions, for seconds where images are large."""


def _write(context: Any, path: str) -> None:
    write_graph_model(context, Path(path))
    (Path(path) / _FACTS).write_bytes(context.facts_json())


def _write_library(_context: Any, path: str) -> None:
    found = library()
    if found is not None:
        shutil.copyfile(found, Path(path).with_name(LIBRARY_NAME))


def _values(_context: Any, path: Path) -> Mapping[str, str]:
    names = {"file_literal": path.name, "facts_literal": f"{path.name}.json"}
    return {key: json.dumps(name) for key, name in names.items()}


def _files(_path: Path) -> Mapping[str, str]:
    return {
        "index.html": "a page that classifies images in a browser: run "
        "`python -m http.server 8000` in this folder and open http://localhost:8000",
        "network.mjs": "what classify.mjs and index.html have in common",
        "pictures.mjs": "reads JPEG and PNG files as Workbench does",
        LIBRARY_NAME: "the library TensorFlow.js",
    }


SPEC = ExportSpec(
    key="tensorflowjs",
    title="TensorFlow.js",
    summary="A folder for web pages and Node. With the ready folder comes a page that classifies "
    "images in the browser.",
    suffix="",
    name="web_model",
    group="Browsers",
    write=_write,
    write_beside=_write_library,
    has_layers=True,
    reader=ExportReader(runtime=RUNTIME, values=_values, most_images=_MOST_IMAGES, files=_files),
)
