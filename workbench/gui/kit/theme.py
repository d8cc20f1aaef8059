"""The theme: colors, icons and fonts; light or dark, chosen or following the system."""

from __future__ import annotations

import re
from dataclasses import asdict

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from workbench.assets import icon_path, resource_path
from workbench.gui.kit.colors import CATEGORY_COLORS, DARK, LIGHT, PALETTE_TOKENS, Colors
from workbench.gui.kit.fonts import BASE_PX, choose_family, ui_font

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
        """The window's font in a size; see `fonts.ui_font`."""
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
