"""The confusion matrix as a heat map: rows are true classes, columns the answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.core.evaluation.confusion import Confusion, Counts, Numbers, Per, Shares
from workbench.core.format import count, share
from workbench.gui.kit.theme import Theme

NUMBERS_FROM_PX = 24
NAMES_FROM_PX = 11
FEW_CLASSES = 12
LEAST_PX = 220
COUNT_PAD_PX = 5
WHITE_BELOW = 140.0
NAME_GAP_PX = 6
MAX_NAME_PX = 110
COUNT_FONT_PX = (11, 22)
CELLS_PER_FONT_PX = 5
"""The counts grow with their squares, a pixel for each of these, between two sizes."""

SHADE_POWER = 0.6
"""Small shares are shaded darker than in proportion, so that rare mistakes can be seen."""

POINT_AT = "Hover over a cell or use the arrow keys."
"""The text below a map while no cell is pointed at."""

ANY = -1
"""Stands for any class in place of its number."""

_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


Rgb = np.ndarray[Any, np.dtype[np.uint8]]


def _is_dark(color: QColor) -> bool:
    """Whether white is easier to read on a color than black."""
    light = 0.299 * color.red() + 0.587 * color.green() + 0.114 * color.blue()
    return light < WHITE_BELOW


def _cell_colors(shares: Shares, theme: Theme) -> Rgb:
    """Red, green, blue of each square of the shown classes, uint8 (shown, shown, 3)."""
    shades = shares**SHADE_POWER
    tokens = (theme.colors.field, theme.colors.bad, theme.colors.accent)
    empty, wrong, right = (_rgb(token) for token in tokens)
    is_right = np.eye(len(shades), dtype=bool)[..., None]
    full = np.where(is_right, right, wrong)
    colors: Rgb = np.rint(empty + (full - empty) * shades[..., None]).astype(np.uint8)
    return colors


def _rgb(token: str) -> Shares:
    color = QColor(token)
    return np.array([color.red(), color.green(), color.blue()], dtype=np.float64)


def _image(colors: Rgb) -> QImage:
    rows, columns, _ = colors.shape
    pixels = np.ascontiguousarray(colors)
    line_bytes = 3 * columns
    image = QImage(pixels.data, columns, rows, line_bytes, QImage.Format.Format_RGB888)
    return image.copy()  # the array's memory ends with this function


class ConfusionMatrix(QWidget):
    """Squares shaded by their share of the row, with counts where there is room; or, with
    `set_shares`, with percentages of the row or of the column.

    With the keyboard: arrows go from square to square, Home and End to the first and last
    of the row.

    Signals:
        hovered: Words for the square under the mouse or the keyboard, "" for none.
        chosen(int, int): A square was clicked, or Enter pressed: the numbers of its actual class
            and of the predicted one; -1 for any, where the name of the other was clicked.

    Attributes:
        is_clickable: Whether the mouse says that something can be clicked.
        cell: Number of the actual class and of the predicted one under the mouse or the keyboard.
    """

    hovered = Signal(str)
    chosen = Signal(int, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._names: list[str] = []
        self._matrix = Confusion.of_dense(np.zeros((0, 0), np.int64))
        self._per: Per | None = None
        self._shown: Numbers = np.arange(0)
        self._counts: Counts = self._matrix.dense()
        self._shares: Shares = np.zeros((0, 0))
        self._colors: Rgb | None = None  # of the squares, until others are shown
        self.cell: tuple[int, int] | None = None
        self.is_clickable = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Confusion matrix")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(LEAST_PX, LEAST_PX)
        theme.changed.connect(self._mark_shown)

    def set_matrix(
        self, names: Sequence[str], matrix: Confusion, shown: Numbers | None = None
    ) -> None:
        """Shows a matrix: these classes of it; without them those that were shown of as many, or
        all of them in their own order. Of more than some hundred only some are to be shown.
        """
        is_same = len(names) == len(self._names)
        self._names, self._matrix = list(names), matrix
        others = self._shown if is_same else np.arange(len(names))
        self._shown = others if shown is None else shown
        self.set_shares(self._per)

    def set_shares(self, per: Per | None) -> None:
        """Shows percentages of the actual or of the predicted classes; None: counts."""
        self._per = per
        self._mark_shown()

    def set_shown(self, classes: Numbers) -> None:
        """Shows some classes alone, or all of them, in this order."""
        self._shown = classes
        self._mark_shown()

    def point_at(self, cell: tuple[int, int]) -> None:
        """Marks the square of two shown classes."""
        self._mark(cell)

    @property
    def shown(self) -> list[int]:
        """The numbers of the classes that are shown, in their order."""
        numbers: list[int] = self._shown.tolist()
        return numbers

    def _mark_shown(self) -> None:
        """Updates the counts of the shown classes; keeps the mark while its cell is visible."""
        is_predicted = self._per == "predicted"
        totals = self._matrix.predicted_totals if is_predicted else self._matrix.actual_totals
        parts = np.maximum(totals[self._shown], 1)
        self._colors = None
        self._counts = self._matrix.dense(self._shown)
        self._shares = self._counts / (parts if is_predicted else parts[:, None])
        is_there = self.cell is not None and set(self.cell) <= set(self.shown)
        self._mark(self.cell if is_there else None)

    def sizeHint(self) -> QSize:
        return QSize(480, 480)

    def side_px(self) -> int:
        """Pixels in both directions from which on the squares of few classes hold their counts; the
        least of the widget for many.
        """
        classes = len(self._shown)
        if classes > FEW_CLASSES:
            return LEAST_PX
        line = self.fontMetrics().lineSpacing() + 4
        return max(LEAST_PX, math.ceil(self._name_px() + line + classes * self._counts_from_px()))

    def _counts_from_px(self) -> float:
        """The side of a square into which its count goes."""
        font = self._theme.font(COUNT_FONT_PX[0], tabular=True)
        widest = QFontMetricsF(font).horizontalAdvance(f"{self._counts.max(initial=0)}")
        return max(float(NUMBERS_FROM_PX), widest + COUNT_PAD_PX)

    def words(self, true: int, answered: int) -> str:
        """A square in words."""
        number, matrix = self._matrix.count_of(true, answered), self._matrix
        of_predicted = self._per == "predicted"
        total = int(
            matrix.predicted_totals[answered] if of_predicted else matrix.actual_totals[true]
        )
        what = "predicted as it" if of_predicted else ""
        part = f" ({share(number / total, 0)})" if total else ""
        of = " ".join(filter(None, (count(total), what)))
        return (
            f"Actual {self._names[true]}, predicted {self._names[answered]}: "
            f"{count(number)} of {of}{part}"
        )

    def _name_px(self) -> float:
        metrics = self.fontMetrics()
        names = (self._names[number] for number in self.shown)
        widest = max(map(metrics.horizontalAdvance, names), default=0)
        return float(min(MAX_NAME_PX, widest) + NAME_GAP_PX)

    def _place(self) -> QRectF:
        """The square area of all cells."""
        return self._place_beside(self._name_px() if self._has_names() else float(NAME_GAP_PX))

    def _has_names(self) -> bool:
        """Whether there is room for the names of the classes."""
        room = self._place_beside(self._name_px()).width()
        return room / max(1, len(self._shown)) >= NAMES_FROM_PX

    def _place_beside(self, names: float) -> QRectF:
        # Names are left and, turned, above; a line for the axes' own names each.
        line = float(self.fontMetrics().lineSpacing() + 4)
        room = min(self.width() - names - line, self.height() - names - line)
        side = max(room, 40.0)
        spare = max(0.0, self.width() - names - line - side)
        return QRectF(names + line + spare / 2, names + line, side, side)

    def cell_at(self, point: QPointF) -> tuple[int, int] | None:
        """(true, answered) under a point of the widget; None outside."""
        place, classes = self._place(), len(self._shown)
        if not classes or not place.contains(point):
            return None
        size = place.width() / classes
        row, column = int((point.y() - place.top()) / size), int((point.x() - place.left()) / size)
        shown = self.shown
        return shown[min(row, classes - 1)], shown[min(column, classes - 1)]

    def target_at(self, point: QPointF) -> tuple[int, int] | None:
        """(actual, predicted) at a point, as `cell_at`; beside the squares the class of the row or
        column, with -1 for any.
        """
        place, classes = self._place(), len(self._shown)
        if not classes or not self._has_names() or place.contains(point):
            return self.cell_at(point)
        size, names = place.width() / classes, self._name_px()
        row, column = int((point.y() - place.top()) / size), int((point.x() - place.left()) / size)
        if place.left() - names <= point.x() < place.left() and 0 <= row < classes:
            return self.shown[row], ANY
        if place.top() - names <= point.y() < place.top() and 0 <= column < classes:
            return ANY, self.shown[column]
        return None

    def cell_rect(self, true: int, answered: int) -> QRectF:
        """Square of two shown classes, in pixels."""
        shown = self.shown
        return self._rect(shown.index(true), shown.index(answered))

    def _rect(self, row: int, column: int) -> QRectF:
        place = self._place()
        size = place.width() / max(1, len(self._shown))
        return QRectF(place.left() + column * size, place.top() + row * size, size, size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if len(self._shown):
            self._paint_cells(painter)
            self._paint_names(painter)
        painter.end()

    def _paint_cells(self, painter: QPainter) -> None:
        size = self._rect(0, 0).width()
        gap = 1.0 if size >= NAMES_FROM_PX else 0.0
        if self._colors is None:
            self._colors = _cell_colors(self._shares, self._theme)
        colors = self._colors
        if gap:
            self._paint_squares(painter, colors, gap)
        else:
            # Thousands of squares are painted as one image: one by one takes too long.
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, on=False)
            painter.drawImage(self._place(), _image(colors))
        if self.cell is not None:
            painter.setPen(QPen(QColor(self._theme.colors.text), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.cell_rect(*self.cell).adjusted(0, 0, -gap, -gap))

    def _paint_squares(self, painter: QPainter, colors: Rgb, gap: float) -> None:
        smallest, largest = COUNT_FONT_PX
        size = int(self._rect(0, 0).width() / CELLS_PER_FONT_PX)
        painter.setFont(self._theme.font(max(smallest, min(largest, size)), tabular=True))
        has_numbers = self._rect(0, 0).width() >= self._counts_from_px()
        for row in range(len(colors)):
            for column in range(len(colors)):
                rect = self._rect(row, column).adjusted(0, 0, -gap, -gap)
                color = QColor(*colors[row, column].tolist())
                painter.fillRect(rect, color)
                if has_numbers and self._counts[row, column]:
                    painter.setPen(QColor("#ffffff" if _is_dark(color) else "#1c2330"))
                    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self._number(row, column))

    def _number(self, row: int, column: int) -> str:
        """What is written into a square: its count, or its percentage without the sign."""
        if self._per is None:
            return f"{self._counts[row, column]}"
        return share(float(self._shares[row, column]), 0).removesuffix("%")

    def _paint_names(self, painter: QPainter) -> None:
        place = self._place()
        self._paint_axes(painter, place)
        if not self._has_names():
            return
        painter.setFont(self._theme.font(12))
        painter.setPen(QColor(self._theme.colors.dim))
        room = self._name_px() - NAME_GAP_PX
        middle = Qt.AlignmentFlag.AlignVCenter
        for index, number in enumerate(self.shown):
            name = self._names[number]
            short = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, int(room))
            row = self._rect(index, 0)
            left = QRectF(row.left() - NAME_GAP_PX - room, row.top(), room, row.height())
            painter.drawText(left, middle | Qt.AlignmentFlag.AlignRight, short)
            column = self._rect(0, index)
            painter.save()
            painter.translate(column.left(), place.top() - NAME_GAP_PX)
            painter.rotate(-90)
            painter.drawText(QRectF(0, 0, room, column.width()), middle, short)
            painter.restore()

    def _paint_axes(self, painter: QPainter, place: QRectF) -> None:
        painter.setFont(self._theme.font(11, weight=600))
        painter.setPen(QColor(self._theme.colors.dim))
        line = float(self.fontMetrics().lineSpacing())
        painter.drawText(
            QRectF(place.left(), 0, place.width(), line), Qt.AlignmentFlag.AlignCenter, "Predicted"
        )
        painter.save()
        names = self._name_px() if self._has_names() else NAME_GAP_PX
        painter.translate(place.left() - names - line - 4, place.bottom())
        painter.rotate(-90)
        painter.drawText(QRectF(0, 0, place.height(), line), Qt.AlignmentFlag.AlignCenter, "Actual")
        painter.restore()

    def _mark(self, cell: tuple[int, int] | None) -> None:
        self.cell = cell
        words = "" if cell is None else self.words(*cell)
        self.setAccessibleDescription(words)
        self.hovered.emit(words)
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell != self.cell:
            self._mark(cell)
        is_hand = self.is_clickable and self.target_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_hand else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        target = self.target_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and target is not None:
            self.chosen.emit(*target)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._mark(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shown, key = self.shown, Qt.Key(event.key())
        last = len(shown) - 1
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.cell is not None:
            self.chosen.emit(*self.cell)
            return
        if last < 0 or key not in (*_MOVES, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
            return
        row, column = map(shown.index, self.cell) if self.cell is not None else (0, 0)
        if key in _MOVES and self.cell is not None:
            down, right = _MOVES[key]
            row, column = min(last, max(0, row + down)), min(last, max(0, column + right))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            column = 0 if key == Qt.Key.Key_Home else last
        self._mark((shown[row], shown[column]))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        reasons = Qt.FocusReason
        by_key = event.reason() in (reasons.TabFocusReason, reasons.BacktabFocusReason)
        if by_key and self.cell is None and len(self._shown):
            self._mark((self.shown[0], self.shown[0]))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._mark(None)
