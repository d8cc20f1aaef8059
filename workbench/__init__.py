"""Workbench: assemble, train and use image-classification networks by drag and drop.

Where things are (the one-page map is ARCHITECTURE.md):

- core, pictures, protocol, runs: plain Python, shared by every process
- layers, datasets, targets, exports: plug-in folders, one file per thing
- worker: the only package that imports TensorFlow and Keras
- client, document, settings, gui: the window; `app` puts it together
- cli: one file per sub-command
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
