"""Keeps one broken release of Qt's bindings from taking the window down."""

from __future__ import annotations

import ctypes
import sys
from importlib.metadata import PackageNotFoundError, version

_BROKEN = "6.12.0"
_IMMORTAL_SINCE = (3, 12)
_SPARE_REFERENCES = 1 << 60


def guard_none() -> bool:
    """Gives None references to spare where the bindings lose one at nearly every call.

    PySide6 6.12.0 does so on Python before 3.12, and Python aborts when None has none
    left. To be called before the first import of Qt.

    Returns:
        True when the guard was needed.
    """
    if sys.version_info >= _IMMORTAL_SINCE or _bindings_version() != _BROKEN:
        return False
    ctypes.c_ssize_t.from_address(id(None)).value += _SPARE_REFERENCES
    return True


def _bindings_version() -> str:
    try:
        return version("PySide6-Essentials")
    except PackageNotFoundError:
        return ""
