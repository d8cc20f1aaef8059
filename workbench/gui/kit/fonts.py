"""Fonts of the window: one family, sizes in pixels."""

from __future__ import annotations

import os
from collections.abc import Mapping

from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

from workbench.assets import resource_path

BASE_PX = 13
SMALL_PX = 11
BUNDLED_FAMILY = "Inter"
_BUNDLED_FILES = ("fonts/Inter-Regular.otf", "fonts/Inter-SemiBold.otf")


def choose_family(environment: Mapping[str, str] | None = None) -> str:
    """The family to use: the desktop's own, or bundled Inter where no desktop sets one.

    A bare X server or the offscreen platform has no font setting; Qt then takes any
    family that is installed, which looks different on every machine.
    """
    environment = os.environ if environment is None else environment
    has_desktop = bool(environment.get("XDG_CURRENT_DESKTOP"))
    if has_desktop and QGuiApplication.platformName() not in {"offscreen", "minimal"}:
        return QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()
    if BUNDLED_FAMILY not in QFontDatabase.families():
        for name in _BUNDLED_FILES:
            QFontDatabase.addApplicationFont(str(resource_path(name)))
    return BUNDLED_FAMILY


def ui_font(px: int = BASE_PX, *, weight: int = 400, tabular: bool = False) -> QFont:
    """The window's font in a size.

    Args:
        px: Height in device-independent pixels.
        weight: 400 is regular, 600 is emphasis.
        tabular: All figures equally wide, for numbers that change.
    """
    font = QFont(QGuiApplication.font())
    font.setPixelSize(px)
    font.setWeight(QFont.Weight(weight))
    if tabular and hasattr(QFont, "Tag"):
        font.setFeature(QFont.Tag("tnum"), 1)
    return font


def heading_font() -> QFont:
    """Small spaced capitals for the headings of panels."""
    font = ui_font(SMALL_PX, weight=600)
    font.setCapitalization(QFont.Capitalization.AllUppercase)
    font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, 0.6)
    return font


def mono_font(px: int = 12) -> QFont:
    """The system's fixed-width font, for logs and reports."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(px)
    return font
