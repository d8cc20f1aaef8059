"""Keeps one broken release of Qt's bindings from taking the window down."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import sys
from pathlib import Path

_BROKEN = "6.12.0"
_IMMORTAL_SINCE = (3, 12)
_SPARE_REFERENCES = 1 << 60
_FOLDER = re.compile(r"pyside6_essentials-([0-9.]+)\.dist-info", re.IGNORECASE)


def guard_none() -> bool:
    """Gives None references to spare where the bindings lose one at nearly every call.

    PySide6 6.12.0 does so on Python before 3.12, and Python aborts when None has none
    left. To be called before the first import of Qt.

    Returns:
        True when the guard was needed.
    """
    if sys.version_info >= _IMMORTAL_SINCE or _BROKEN not in _bindings_versions():
        return False
    ctypes.c_ssize_t.from_address(id(None)).value += _SPARE_REFERENCES
    return True


def _bindings_versions() -> set[str]:
    """Versions of the bindings that are installed, by the names of their folders.

    importlib.metadata has it too, but its import costs a tenth of the window's start.
    """
    found = importlib.util.find_spec("PySide6")
    if found is None or found.origin is None:
        return set()
    names = (path.name for path in Path(found.origin).parents[1].iterdir())
    matches = (_FOLDER.fullmatch(name) for name in names)
    return {match[1] for match in matches if match}
