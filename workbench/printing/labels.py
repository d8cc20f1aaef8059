"""The texts of a figure on paper, in the letters of the rest: Qt's SVG would choose others."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QPainter

from workbench.printing.sheet import Sheet
from workbench.printing.text import POINT, Style
from workbench.report.drawing import Label

_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""Share of a text that is before its place."""


def paint_labels(
    sheet: Sheet, labels: Iterable[Label], place: tuple[float, float], scale: float
) -> None:
    """Paints labels of a drawing whose upper left corner is at `place`; `scale` is in units of the
    paper per pixel of the drawing.
    """
    for label in labels:
        color = label.color if label.color.startswith("#") else sheet.color(label.color)
        x, y = place[0] + label.x * scale, place[1] + label.y * scale
        _paint(sheet.painter, label, (x, y), label.size * scale, color)


def _paint(
    painter: QPainter, label: Label, place: tuple[float, float], size: float, color: str
) -> None:
    style = Style(size / POINT, is_bold=label.is_bold)
    font: QFont = style.font
    painter.save()
    painter.translate(*place)
    painter.rotate(label.turn)
    painter.setFont(font)
    painter.setPen(QColor(color))
    start = QPointF(-style.width(label.text) * _ANCHORS[label.anchor], 0.0)
    painter.drawText(start, label.text)
    painter.restore()
