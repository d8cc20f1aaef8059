"""The pages: where the next thing goes, and a new page where there is no room for it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRectF
from PySide6.QtGui import QColor, QPageLayout, QPageSize, QPainter, QPdfWriter, QPen

from workbench.printing.text import POINT, Style, TextBox

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
