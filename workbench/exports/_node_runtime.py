"""TensorFlow.js in Node: where it is found, and the line that installs it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from workbench.core.specs import ExportRuntime

PACKAGE, VERSION = "@tensorflow/tfjs", "4.22.0"
LIBRARY_NAME = "tf.min.js"
_NODE = "node"


def library() -> Path | None:
    """The library in one file, for Node and browsers; None where the package is not installed."""
    paths = [folder / PACKAGE / "dist" / LIBRARY_NAME for folder in _folders()]
    return next((path for path in paths if path.is_file()), None)


def folder() -> Path:
    """Folder with the runtime's packages that Workbench installs: beside those of this Python."""
    return Path(sys.prefix) / _NODE


def _folders() -> list[Path]:
    """Folders of packages of Node, the first one first."""
    named = os.environ.get("NODE_PATH", "").split(os.pathsep)
    everybody = ["/usr/local/lib/node_modules", "/usr/lib/node_modules"]
    return [folder() / "node_modules", *(Path(name) for name in [*named, *everybody] if name)]


def _missing() -> str:
    if shutil.which(_NODE) is None:
        return f"no program {_NODE}"
    return "" if library() is not None else f"no package {PACKAGE}"


def _install() -> str:
    if shutil.which(_NODE) is None:
        return "sudo apt-get install -y nodejs npm"
    if os.access(sys.prefix, os.W_OK):
        return f'npm install --prefix "{folder()}" {PACKAGE}@{VERSION}'
    return f"sudo npm install --global {PACKAGE}@{VERSION}"


RUNTIME = ExportRuntime(
    name="TensorFlow.js",
    package=f"Node with {PACKAGE}",
    missing=_missing,
    install=_install,
    command=lambda: (shutil.which(_NODE) or _NODE,),
    child="reader_child.mjs",
    texts=("classify_node.txt",),
    scripts={
        "classify.mjs": "script",
        "network.mjs": "network",
        "pictures.mjs": "pictures",
        "index.html": "page",
    },
    setup="",
    start=_NODE,
    about=lambda _context, _path: (
        "It takes JPEG files, but for CMYK, and PNG files, to the pixels that Workbench gives a\n"
        "network, and refuses others. In a browser, without Node: run `python -m http.server 8000` "
        "in this\nfolder, open http://localhost:8000 and drop an image there. Nothing is sent "
        "anywhere."
    ),
    license=f"{LIBRARY_NAME} is TensorFlow.js, under the Apache License 2.0: "
    "http://www.apache.org/licenses/LICENSE-2.0",
)
