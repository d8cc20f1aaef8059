"""A bar of parts: how many images train, validate and test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.core.format import count
from workbench.gui.kit.theme import Theme

_BAR_PX = 12
_ROW_PX = 22


@dataclass(frozen=True)
class BarPart:
    """One part: its name, its size (None while that is not known), and the name of its color
    token.
    """

    name: str
    size: int | None
    color: str

    @property
    def words(self) -> str:
        """Its size."""
        return "…" if self.size is None else count(self.size)


class SplitBar(QWidget):
    """Parts side by side, to scale, with a legend below; empty parts are only named."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._parts: tuple[BarPart, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_parts(self, parts: Sequence[BarPart]) -> None:
        """Shows these parts."""
        self._parts = tuple(parts)
        self.setAccessibleName(", ".join(f"{p.name}: {p.words}" for p in parts))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, _BAR_PX + 10 + _ROW_PX * len(self._parts))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font(tabular=True))
        total = sum(part.size or 0 for part in self._parts)
        x = 0.0
        y = _BAR_PX + 10
        if not total:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.colors.hover))
            painter.drawRoundedRect(QRectF(0, 0, self.width(), _BAR_PX), 3, 3)
        for part in self._parts:
            width = self.width() * (part.size or 0) / total if total else 0.0
            color = QColor(getattr(self._theme.colors, part.color))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            if width > 0:
                painter.drawRoundedRect(QRectF(x, 0, max(width - 2, 2), _BAR_PX), 3, 3)
            painter.drawRoundedRect(QRectF(0, y + 6, 10, 10), 3, 3)
            self._draw_legend(painter, part, y)
            x += width
            y += _ROW_PX

    def _draw_legend(self, painter: QPainter, part: BarPart, y: float) -> None:
        row = QRectF(18, y, self.width() - 18, _ROW_PX)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(self._theme.colors.dim))
        painter.drawText(row, middle | Qt.AlignmentFlag.AlignLeft, part.name)
        painter.setPen(QColor(self._theme.colors.text))
        painter.drawText(row, middle | Qt.AlignmentFlag.AlignRight, part.words)
