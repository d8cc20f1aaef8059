"""Bars of two networks: a class a row, its two bars side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QColor, QPainter

from workbench.core.format import share
from workbench.gui.classify.bar_rows import NAME_PX, NUM_ROWS, BarRows
from workbench.gui.classify.compare.agreement import PairedScore
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme

GAP_PX = 16
_FIGURE_PX = 68
ABSENT = "no class"  # of this network
_DUE = ""


class PairedBars(BarRows):
    """Shows the classes of two networks."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, 520, least_px=360)
        self.rows: list[PairedScore] = []
        self._absent = (ABSENT, ABSENT)

    def set_rows(
        self, rows: Sequence[PairedScore], *, is_due: tuple[bool, bool] = (False, False)
    ) -> None:
        """Shows these rows; of a network whose answer is still due nothing is said yet."""
        self.rows = list(rows)
        first, second = self._absent = (
            _DUE if is_due[0] else ABSENT,
            _DUE if is_due[1] else ABSENT,
        )
        words = [
            f"{row.name}: {_figure(row.first, first)}, {_figure(row.second, second)}"
            for row in rows
        ]
        self.setAccessibleName("; ".join(words[:NUM_ROWS]))
        self.setToolTip(plain_tip("\n".join(words[:NUM_ROWS])))
        self._make_room(max(1, len(self.rows)))

    def halves(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Left end and width of the place of each network, with its figure."""
        width = (self.width() - NAME_PX - GAP_PX - (GAP_PX if self._has_bar else 0)) / 2
        return (NAME_PX, width), (NAME_PX + width + GAP_PX, width)

    @property
    def _has_bar(self) -> bool:
        return len(self.rows) > NUM_ROWS

    def paint(self, painter: QPainter) -> None:
        best = [
            max((row.first or 0.0 for row in self.rows), default=0.0),
            max((row.second or 0.0 for row in self.rows), default=0.0),
        ]
        for number in self._rows_seen(len(self.rows)):
            row = self.rows[number]
            painter.setFont(self._theme.font(13))
            self._paint_name(painter, number, NAME_PX - GAP_PX, row.name)
            for place, value, most, absent in zip(
                self.halves(), (row.first, row.second), best, self._absent, strict=True
            ):
                words, is_best = _figure(value, absent), value == most
                self._paint_half(painter, number, place, value, words, is_best=is_best)

    def _paint_half(
        self,
        painter: QPainter,
        row: int,
        place: tuple[float, float],
        value: float | None,
        words: str,
        *,
        is_best: bool,
    ) -> None:
        colors, (left, width) = self._theme.colors, place
        painter.setFont(self._theme.font(13, weight=600 if is_best else 400, tabular=True))
        painter.setPen(QColor(colors.dim if value is None else colors.text))
        self._paint_figure(painter, row, left + width, words)
        if value is not None:
            self._paint_bar(painter, row, left, width - _FIGURE_PX, value, is_best=is_best)


def _figure(value: float | None, absent: str) -> str:
    return absent if value is None else share(value)
