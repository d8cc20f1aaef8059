"""The theme: colors, icons and fonts; light or dark, chosen or following the system."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from PySide6.QtCore import (
    QByteArray,
    QEasingCurve,
    QObject,
    QPointF,
    QRectF,
    Qt,
    QVariantAnimation,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QIcon,
    QPainter,
    QPalette,
    QPixmap,
    QTransform,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QGraphicsItem

from workbench.assets import icon_path, resource_path

# colors --------------------------------------------------------------------------------------
# Color tokens of the two themes, from `resources/styles/colors.json`.


@dataclass(frozen=True)
class Colors:
    """All colors of one theme as "#rrggbb"."""

    background: str
    panel: str
    line: str
    canvas: str
    text: str
    dim: str
    faint: str
    accent: str
    accent_text: str
    accent_soft: str
    field: str
    hover: str
    good: str
    warning: str
    bad: str
    bad_soft: str
    train: str
    validation: str
    frozen: str
    fine_tuning: str


_TABLE = json.loads(resource_path("styles/colors.json").read_text(encoding="utf-8"))
LIGHT = Colors(**_TABLE["light"])
DARK = Colors(**_TABLE["dark"])
PALETTE_TOKENS: dict[str, str] = _TABLE["roles"]
"""Color token of each role of Qt's palette."""
CATEGORY_COLORS: dict[str, str] = _TABLE["categories"]
"""Strip and icon color of each layer category, the same in both themes."""


# fonts ---------------------------------------------------------------------------------------
# Fonts of the window: one family, sizes in pixels.

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


# motion --------------------------------------------------------------------------------------
# Motion that shows where things went: a moment, and none where it is switched off.

MOTION_MS = 120


def allow_motion(*, is_allowed: bool) -> None:
    """Sets whether anything of this application moves by itself."""
    QApplication.setEffectEnabled(Qt.UIEffect.UI_General, is_allowed)


def is_motion_allowed() -> bool:
    """Whether `allow_motion` has allowed motion."""
    return QApplication.isEffectEnabled(Qt.UIEffect.UI_General)


class Glide(QVariantAnimation):
    """Items of a scene come from where they were. Their places are the new ones at once, so that
    nothing but the drawing lags behind.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._offsets: Mapping[QGraphicsItem, QPointF] = {}
        self.setStartValue(1.0)
        self.setEndValue(0.0)
        self.setDuration(MOTION_MS)
        self.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.valueChanged.connect(self._show)

    def start_from(self, offsets: Mapping[QGraphicsItem, QPointF]) -> None:
        """Begins with items so far from their places; those of before are there at once."""
        self.stop()
        self._show(0.0)
        self._offsets = offsets
        if offsets and is_motion_allowed():
            self._show(1.0)
            self.start()

    def _show(self, part: float) -> None:
        for item, offset in self._offsets.items():
            item.setTransform(QTransform.fromTranslate(offset.x() * part, offset.y() * part))


# theme ---------------------------------------------------------------------------------------

MODES = ("system", "light", "dark")
_ICON_SIZES_PX = (16, 20, 24, 32, 48)
_CHIP_PX, _CHIP_RATIO = 18, 2


class Theme(QObject):
    """Colors, icons and fonts of the window; `changed` when any of them changes."""

    changed = Signal()

    def __init__(self, mode: str = "system", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._mode = mode if mode in MODES else "system"
        self._icons: dict[tuple[str, str, str], QIcon] = {}
        self._app: QApplication | None = None
        self.is_dark = self._wanted_dark()

    @property
    def mode(self) -> str:
        """What the user chose: "system", "light" or "dark"."""
        return self._mode

    @property
    def colors(self) -> Colors:
        """The color tokens in force."""
        return DARK if self.is_dark else LIGHT

    def set_mode(self, mode: str) -> None:
        """Chooses "light", "dark", or "system" (light where the system does not say)."""
        if mode not in MODES:
            raise ValueError(mode)
        self._mode = mode
        self._refresh()

    def apply(self, app: QApplication) -> None:
        """Gives the application its style, font, palette and style sheet, now and later."""
        self._app = app
        app.setStyle("Fusion")
        # Few entries of menus have an icon of their own: none is shown rather than some.
        app.setAttribute(Qt.ApplicationAttribute.AA_DontShowIconsInMenus)
        font = QFont(choose_family())
        font.setPixelSize(BASE_PX)
        app.setFont(font)
        self._dress(app)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_changed)

    def font(self, px: int = BASE_PX, *, weight: int = 400, tabular: bool = False) -> QFont:
        """The window's font in a size; see `ui_font`."""
        return ui_font(px, weight=weight, tabular=tabular)

    def icon(self, name: str, color: str | None = None) -> QIcon:
        """A bundled icon in a color (default: the text color), faint when disabled."""
        key = (name, color or self.colors.text, self.colors.faint)
        if key not in self._icons:
            self._icons[key] = render_icon(*key)
        return self._icons[key]

    def category_icon(self, category: str) -> QIcon:
        """The icon of a layer category: white on a rounded square in its color, also where its row
        is selected.
        """
        key = ("category", category, self.category_color(category))
        if key not in self._icons:
            chip = self._category_chip(category)
            self._icons[key] = QIcon(chip)
            self._icons[key].addPixmap(chip, QIcon.Mode.Selected)
        return self._icons[key]

    def _category_chip(self, category: str) -> QPixmap:
        chip = QPixmap(_CHIP_PX * _CHIP_RATIO, _CHIP_PX * _CHIP_RATIO)
        chip.setDevicePixelRatio(_CHIP_RATIO)
        chip.fill(Qt.GlobalColor.transparent)
        with QPainter(chip) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.category_color(category)))
            painter.drawRoundedRect(0, 0, _CHIP_PX, _CHIP_PX, 4, 4)
            inner = _CHIP_PX - 4
            self.icon(category, "#ffffff").paint(painter, 2, 2, inner, inner)
        return chip

    def category_color(self, category: str) -> str:
        """The color of a layer category; that of "core" for one this version lacks."""
        return CATEGORY_COLORS.get(category, self.colors.dim)

    def _wanted_dark(self) -> bool:
        if self._mode != "system":
            return self._mode == "dark"
        return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark

    def _on_system_changed(self) -> None:
        if self._mode == "system":
            self._refresh()

    def _refresh(self) -> None:
        if self.is_dark == self._wanted_dark():
            return
        self.is_dark = not self.is_dark
        if self._app is not None:
            self._dress(self._app)
        self.changed.emit()

    def _dress(self, app: QApplication) -> None:
        app.setPalette(palette_for(self.colors))
        app.setStyleSheet(style_sheet(self.colors, is_dark=self.is_dark))


def palette_for(colors: Colors) -> QPalette:
    """Fusion's palette from the color tokens."""
    palette, role = QPalette(), QPalette.ColorRole
    for name, token in PALETTE_TOKENS.items():
        palette.setColor(role[name], QColor(getattr(colors, token)))
    for key in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, key, QColor(colors.faint))
    return palette


def style_sheet(colors: Colors, *, is_dark: bool) -> str:
    """resources/styles/window.qss with its @tokens replaced."""
    tokens = asdict(colors)
    tokens["images"] = resource_path("styles").as_posix()
    tokens["mode"] = "dark" if is_dark else "light"
    text = resource_path("styles/window.qss").read_text(encoding="utf-8")
    return re.sub(r"@([a-z_]+?)@", lambda match: tokens[match[1]], text)


def render_icon(name: str, color: str, disabled_color: str) -> QIcon:
    """An icon in all usual sizes; `currentColor` of the drawing becomes `color`."""
    svg = icon_path(name).read_text(encoding="utf-8")
    icon = QIcon()
    for mode, ink in ((QIcon.Mode.Normal, color), (QIcon.Mode.Disabled, disabled_color)):
        renderer = QSvgRenderer(QByteArray(svg.replace("currentColor", ink).encode()))
        for size_px in _ICON_SIZES_PX:
            icon.addPixmap(_render(renderer, size_px), mode)
    return icon


def _render(renderer: QSvgRenderer, size_px: int) -> QPixmap:
    pixmap = QPixmap(size_px, size_px)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        renderer.render(painter, QRectF(0, 0, size_px, size_px))
    return pixmap
