"""Versions that take part in a training, without importing any of them."""

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


def compiles_for_processors() -> bool:
    """Whether the TensorFlow that is installed has an XLA for the processor.

    The one for TPUs has none: code that requests it fails with "could not find registered
    transfer manager for platform Host".
    """
    return "tensorflow-tpu" not in versions()
