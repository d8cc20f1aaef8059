"""The system libraries that the window needs: Qt's bindings bring the rest.

Where one is missing, Qt prints advice that does not help and aborts the process. Qt's own plug-in
for the screen is loaded first, as Qt will do a moment later; what the loader misses is reported
with the packages that hold it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from workbench.assets import resource_path
from workbench.errors import RunError

LIST_NAME = "window_libraries.txt"
"""Resource: a library and its Debian package a line; packaging/setup.sh reads it too."""


def refuse_without_libraries(variables: Mapping[str, str] = os.environ) -> None:
    """Raises RunError where no plug-in of Qt for this screen can be loaded."""
    if not sys.platform.startswith("linux"):
        return
    faults = [fault for plugin in _plugins(variables) if (fault := _fault_of(str(plugin)))]
    if faults and len(faults) == len(_plugins(variables)):
        raise _missing(faults[0])


def _plugins(variables: Mapping[str, str]) -> list[Path]:
    """The files of the plug-ins that Qt will try, as far as they are where the bindings are."""
    found = importlib.util.find_spec("PySide6")
    if found is None or found.origin is None:
        return []
    folder = Path(found.origin).parent / "Qt" / "plugins" / "platforms"
    chosen = variables.get("QT_QPA_PLATFORM", "")
    names = [part.partition(":")[0] for part in chosen.split(";") if part]
    if not names:
        names = ["xcb", "wayland"] if variables.get("WAYLAND_DISPLAY") else ["xcb"]
    files = (folder / f"libq{name}.so" for name in names)
    return [file for file in files if file.is_file()]


def _fault_of(library: str) -> str:
    """Why a library cannot be loaded; "" where it can."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return ""


def _missing(fault: str) -> RunError:
    lines = resource_path(LIST_NAME).read_text(encoding="utf-8").splitlines()
    needed = [line.split() for line in lines if line.strip()]
    absent = [(library, package) for library, package in needed if _fault_of(library)]
    packages = " ".join(sorted({package for _, package in absent}))
    return RunError(
        "System libraries of the window are missing.",
        where=", ".join(library for library, _ in absent),
        received=fault[:300],
        fix=f"Install them with: sudo apt-get install -y {packages}"
        if packages
        else "Reinstall PySide6. `workbench tour` does the same in the terminal.",
    )
