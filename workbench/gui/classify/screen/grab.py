"""Still images of all screens, and why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtGui import QGuiApplication, QPixmap, QScreen

_INSTEAD = "Take a screenshot of the region with the desktop, and paste it (Ctrl+V)."


@dataclass(frozen=True)
class StillScreen:
    """A screen as it was at one moment."""

    screen: QScreen
    pixmap: QPixmap


def grab_reason(platform: str, environment: Mapping[str, str]) -> str:
    """Why the screen cannot be grabbed; "" where that may be possible.

    Args:
        platform: Qt's name of the window system.
        environment: Environment variables of this process. On X11 under Wayland only a black screen
            is grabbed.
    """
    is_under = environment.get("XDG_SESSION_TYPE", "") == "wayland"
    if platform.startswith("wayland") or (platform == "xcb" and is_under):
        return f"Wayland does not let applications grab the screen. {_INSTEAD}"
    return ""


def grab_screens() -> list[StillScreen]:
    """All screens; none where the system has refused even one."""
    stills = [StillScreen(each, each.grabWindow(0)) for each in QGuiApplication.screens()]
    return [] if any(still.pixmap.isNull() for still in stills) else stills


def refused_words() -> str:
    """What to do where the system has given no image."""
    return f"Allow it in the settings of the system, or do without: {_INSTEAD}"
