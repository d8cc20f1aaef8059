"""Texts on paper: broken into lines once, then drawn line by line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QPainter,
    QTextLayout,
    QTextLine,
    QTextOption,
)

from workbench.assets import resource_path

POINT = 10.0
"""Units of the paper per point: fine enough for the places of letters."""

_LEADING = 1.35

_SUBSTITUTING = ("calt", "liga", "ccmp")
"""Features of fonts by which letters become other shapes: a PDF would not know what they mean."""


@dataclass(frozen=True)
class Style:
    """How a text looks: size in points, color as a token."""

    size: float = 9.0
    is_bold: bool = False
    is_mono: bool = False
    color: str = "text"

    @property
    def font(self) -> QFont:
        """The font, in units of the paper."""
        return _font(self.size, self.is_bold, self.is_mono)

    @property
    def line_height(self) -> float:
        """Distance from one base line to the next, in units of the paper."""
        return self.size * POINT * _LEADING

    def width(self, text: str) -> float:
        """Width of a text in one line, in units of the paper."""
        return QFontMetricsF(self.font).horizontalAdvance(text)


@cache
def _families() -> tuple[str, ...]:
    """The program's own letters; where one is not in them, the system's."""
    files = ("fonts/Inter-Regular.otf", "fonts/Inter-SemiBold.otf")
    numbers = [QFontDatabase.addApplicationFont(str(resource_path(file))) for file in files]
    found = [QFontDatabase.applicationFontFamilies(number) for number in numbers]
    return tuple(dict.fromkeys(family for families in found for family in families))


@cache
def _font(size: float, is_bold: bool, is_mono: bool) -> QFont:  # noqa: FBT001 - keys of a cache
    font = QFont()
    if is_mono:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    else:
        font.setFamilies([*_families(), "Noto Sans", "DejaVu Sans"])
    font.setPixelSize(round(size * POINT))
    font.setWeight(QFont.Weight.DemiBold if is_bold else QFont.Weight.Normal)
    for feature in _SUBSTITUTING:
        font.setFeature(QFont.Tag(feature), 0)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


class TextBox:
    """A text broken into lines of a width.

    Attributes:
        lines: In their order; their places are relative to the first.
        height: Height of all lines, in units of the paper.
    """

    def __init__(self, text: str, style: Style, width: float, *, most: int = 0) -> None:
        self.style = style
        # One layout for all paragraphs: a line separator begins a new line in it.
        self._layout = QTextLayout(text.replace("\n", "\u2028"), style.font)
        option = QTextOption(Qt.AlignmentFlag.AlignLeft)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self._layout.setTextOption(option)
        self.lines = self._broken(width, most)
        self.height = len(self.lines) * style.line_height

    def _broken(self, width: float, most: int) -> list[QTextLine]:
        lines: list[QTextLine] = []
        self._layout.beginLayout()
        while not most or len(lines) < most:
            line = self._layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(max(width, 1.0))
            lines.append(line)
        self._layout.endLayout()
        return lines

    def draw_line(self, painter: QPainter, number: int, x: float, y: float, color: str) -> None:
        """Draws one line with its upper left corner at (x, y)."""
        line = self.lines[number]
        painter.setPen(QColor(color))
        lead = (self.style.line_height - line.height()) / 2
        line.draw(painter, QPointF(x - line.x(), y + lead - line.y()))

    def draw(self, painter: QPainter, x: float, y: float, color: str) -> None:
        """Draws all lines."""
        for number in range(len(self.lines)):
            self.draw_line(painter, number, x, y + number * self.style.line_height, color)
