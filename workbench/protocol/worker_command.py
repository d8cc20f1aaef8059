"""How a worker process is started: the same words for the window, the command line, tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PACKAGE_HOME = Path(__file__).resolve().parents[2]


def worker_command(*words: str) -> list[str]:
    """Program and arguments of `python -m workbench.worker WORDS`.

    `-P` keeps the folder that the user happens to be in off Python's search path: a file
    `keras.py` beside the user's images must not become part of the program.
    """
    return [sys.executable, "-P", "-m", "workbench.worker", *words]


def worker_environment() -> dict[str, str]:
    """The environment of a worker: ours, and where this very copy of Workbench is found."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    if not {"site-packages", "dist-packages"} & set(_PACKAGE_HOME.parts):
        paths = [str(_PACKAGE_HOME), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment
