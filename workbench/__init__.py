"""Workbench: assemble, train and use image-classification networks by drag and drop.

ARCHITECTURE.md is the map: processes, floors of packages, the life of a run, the laws. In short:

- core, pictures, protocol, runs: plain Python, shared by all processes
- layers, datasets, targets, exports and others: plug-in folders, one file for each thing
- worker: the only package that imports TensorFlow and Keras
- client, document, gui: the window; `app` assembles it
- cli: one file for each command

Rules of the whole program:

- Texts and tables are data in `resources/` (exported programs, the window's actions, colors, help
  pages, explanations of ssh errors), found by `assets` alone; modules only fill them in or look
  them up.
- What is installed apart (the window, TensorFlow, ONNX Runtime and small ones) is a `parts.Part`,
  named as its extra in `pyproject.toml`. `Part.require` raises the error with the command that
  installs it into this Python. It is called where the part is first needed: before the window and
  the PDF writer are imported, before a trainer is started, where a worker imports TensorFlow.
- No library may send telemetry. It is switched off here, before any import; exported programs
  switch it off themselves, and `packaging/prove.sh telemetry` traces each part.
- Errors are values of the tree in `errors`: what, where, received, expected, fix.
"""

from __future__ import annotations

import os

# Unless this is set before its import, ONNX Runtime (1.29 and later on Linux) sends telemetry.
# Here, as each process of ours begins with this file, and those that it starts inherit it.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

# An empty or relative folder is none by the XDG Base Directory Specification; Send2Trash would make
# a trash in the working directory.
if not os.environ.get("XDG_DATA_HOME", "").startswith(os.sep):
    os.environ.pop("XDG_DATA_HOME", None)

__version__ = "0.1.0"
