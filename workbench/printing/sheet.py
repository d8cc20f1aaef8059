"""The pages: where the next thing goes, and a new page where there is no room for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPen,
    QTextLayout,
    QTextLine,
    QTextOption,
)

from workbench.assets import resource_path

# text ----------------------------------------------------------------------------------------
# Texts on paper: broken into lines once, then drawn line by line.

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


# sheet ---------------------------------------------------------------------------------------

MARGIN = 50 * POINT
_FOOT = 24 * POINT
_FOOT_STYLE = Style(7.5, color="dim")


class Sheet:
    """A PDF being painted; lengths in units of the paper.

    Attributes:
        painter: Paints on the current page.
        left, width: The column of the text.
        y: Where the next thing goes.
    """

    def __init__(self, title: str, footer: str, colors: Mapping[str, str]) -> None:
        self._buffer = QBuffer()
        self._buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        self.writer = QPdfWriter(self._buffer)
        self.writer.setTitle(title)
        self.writer.setCreator("Workbench")
        self.writer.setResolution(round(72 * POINT))
        self.writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
        self.writer.setPageMargins(QMarginsF(0, 0, 0, 0), QPageLayout.Unit.Point)
        self.painter = QPainter(self.writer)
        self._colors, self._footer, self._page = colors, footer, 1
        self.left, self.width = MARGIN, self.writer.width() - 2 * MARGIN
        self._bottom = self.writer.height() - MARGIN - _FOOT
        self.y = MARGIN
        self._paint_foot()

    def color(self, name: str) -> str:
        """A color by its token."""
        return self._colors.get(name, "#000000")

    @property
    def page_height(self) -> float:
        """Room of an empty page."""
        return self._bottom - MARGIN

    @property
    def room(self) -> float:
        """What is left of this page."""
        return self._bottom - self.y

    @property
    def is_at_top(self) -> bool:
        """Whether nothing is on the page yet."""
        return self.y <= MARGIN

    def need(self, height: float) -> bool:
        """Begins a new page where less than this is left; whether it did."""
        if self.y + min(height, self.page_height) <= self._bottom + 0.5:
            return False
        self.writer.newPage()
        self._page += 1
        self.y = MARGIN
        self._paint_foot()
        return True

    def skip(self, height: float) -> None:
        """Leaves a gap, but not at the top of a page."""
        if not self.is_at_top:
            self.y += height

    def paragraph(self, text: str, style: Style, *, indent: float = 0.0) -> None:
        """Paints a text of any length, over as many pages as it takes."""
        box = TextBox(text, style, self.width - indent)
        color = self.color(style.color)
        for number in range(len(box.lines)):
            self.need(style.line_height)
            box.draw_line(self.painter, number, self.left + indent, self.y, color)
            self.y += style.line_height

    def rule(self, y: float, color: str = "line", width: float = 0.5) -> None:
        """Draws a line over the whole column."""
        self.painter.fillRect(
            QRectF(self.left, y, self.width, width * POINT), QColor(self.color(color))
        )

    def box(self, area: QRectF, fill: str, stroke: str = "") -> None:
        """Draws a rectangle with round corners."""
        self.painter.setBrush(QColor(self.color(fill)))
        color = QColor(self.color(stroke or fill))
        self.painter.setPen(QPen(color, 0.6 * POINT))
        self.painter.drawRoundedRect(area, 4 * POINT, 4 * POINT)

    def finish(self) -> bytes:
        """The whole file."""
        self.painter.end()
        return bytes(self._buffer.data().data())

    def _paint_foot(self) -> None:
        y = self.writer.height() - MARGIN - _FOOT / 3
        color = self.color("dim")
        TextBox(self._footer, _FOOT_STYLE, self.width - 40 * POINT, most=1).draw(
            self.painter, self.left, y, color
        )
        number = f"{self._page}"
        TextBox(number, _FOOT_STYLE, self.width).draw(
            self.painter, self.left + self.width - _FOOT_STYLE.width(number), y, color
        )
