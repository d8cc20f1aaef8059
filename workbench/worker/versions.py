"""Which versions take part in a training, without importing any of them."""

from __future__ import annotations

import platform
from importlib import metadata

import workbench


def versions() -> dict[str, str]:
    """Version by name; what is not installed is left out."""
    found = {"workbench": workbench.__version__, "python": platform.python_version()}
    for name in ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "libtpu", "keras", "numpy"):
        try:
            found[name.removesuffix("-cpu")] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
