"""Qt Multimedia, no part of what Workbench installs: what it offers, or why it does not."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from workbench.parts import WEBCAM

_NAME = "PySide6.QtMultimedia"
NO_CAMERA = "No camera was found. Connect one, or allow access to it in the settings of the system."


def multimedia() -> Any:
    """The module; None where it is not installed, or cannot be loaded."""
    return _module() if WEBCAM.is_installed else None


@cache
def _module() -> Any:
    try:
        return import_module(_NAME)
    except ImportError:  # its libraries are missing, or of another version
        return None


def cameras() -> list[Any]:
    """A QCameraDevice for each camera, the usual one first."""
    module = multimedia()
    if module is None:
        return []
    devices = module.QMediaDevices
    return sorted(devices.videoInputs(), key=lambda each: each != devices.defaultVideoInput())


def webcam_reason() -> str:
    """Why there is no picture of a camera; "" where there is one."""
    if multimedia() is None:
        return f"{WEBCAM.library} is not installed. {WEBCAM.install_words}."
    return "" if cameras() else NO_CAMERA
