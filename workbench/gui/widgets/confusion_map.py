"""The confusion matrix as a heat map: rows are true classes, columns the answers."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.theme import Theme
from workbench.gui.widgets.numbers import plural, share

NUMBERS_FROM_PX = 24
NAMES_FROM_PX = 11
MAX_CELL_PX = 56
WHITE_BELOW = 140.0
NAME_GAP_PX = 6
MAX_NAME_PX = 110


def mix(low: QColor, high: QColor, part: float) -> QColor:
    """A colour between two: 0 gives `low`, 1 gives `high`."""
    part = min(1.0, max(0.0, part))
    lows = (low.red(), low.green(), low.blue())
    highs = (high.red(), high.green(), high.blue())
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(lows, highs, strict=True))
    return QColor(red, green, blue)


def _is_dark(color: QColor) -> bool:
    """Whether white is easier to read on a colour than black."""
    light = 0.299 * color.red() + 0.587 * color.green() + 0.114 * color.blue()
    return light < WHITE_BELOW


class ConfusionMap(QWidget):
    """Squares shaded by their share of the row, with counts where there is room.

    Signals:
        hovered: Words for the square under the mouse or the keyboard, "" for none.
    """

    hovered = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._names: list[str] = []
        self._counts: list[list[int]] = []
        self.cell: tuple[int, int] | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Confusion matrix")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(220, 220)
        theme.changed.connect(self.update)

    def set_matrix(self, names: list[str], counts: list[list[int]]) -> None:
        """Shows counts[true][answered]."""
        self._names, self._counts = list(names), [list(row) for row in counts]
        self._mark(None)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(480, 480)

    def words(self, true: int, answered: int) -> str:
        """A square in words."""
        number, total = self._counts[true][answered], sum(self._counts[true])
        of = f" ({share(number / total)} of them)" if total else ""
        return (
            f"true {self._names[true]}, answered {self._names[answered]}: "
            f"{plural(number, 'picture')}{of}"
        )

    def _name_px(self) -> float:
        metrics = self.fontMetrics()
        widest = max((metrics.horizontalAdvance(name) for name in self._names), default=0)
        return float(min(MAX_NAME_PX, widest) + NAME_GAP_PX)

    def _place(self) -> QRectF:
        """The square area of all cells."""
        names, count = self._name_px(), max(1, len(self._names))
        # Names stand left and, turned, above; a line for the axes' own names each.
        line = float(self.fontMetrics().lineSpacing() + 4)
        room = min(self.width() - names - line, self.height() - names - line)
        side = min(max(room, 40.0), float(MAX_CELL_PX * count))
        spare = max(0.0, self.width() - names - line - side)
        return QRectF(names + line + spare / 2, names + line, side, side)

    def cell_at(self, point: QPointF) -> tuple[int, int] | None:
        """(true, answered) under a point of the widget; None outside."""
        place, count = self._place(), len(self._names)
        if not count or not place.contains(point):
            return None
        size = place.width() / count
        row, column = int((point.y() - place.top()) / size), int((point.x() - place.left()) / size)
        return min(row, count - 1), min(column, count - 1)

    def cell_rect(self, true: int, answered: int) -> QRectF:
        """Where a square is drawn."""
        place = self._place()
        size = place.width() / max(1, len(self._names))
        return QRectF(place.left() + answered * size, place.top() + true * size, size, size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._names:
            self._paint_cells(painter)
            self._paint_names(painter)
        painter.end()

    def _paint_cells(self, painter: QPainter) -> None:
        colors = self._theme.colors
        empty = QColor(colors.field)
        right, wrong = QColor(colors.accent), QColor(colors.bad)
        size = self.cell_rect(0, 0).width()
        gap = 1.0 if size >= 6 else 0.0
        painter.setFont(self._theme.font(11, tabular=True))
        for true, row in enumerate(self._counts):
            total = max(1, sum(row))
            for answered, number in enumerate(row):
                rect = self.cell_rect(true, answered).adjusted(0, 0, -gap, -gap)
                shade = number / total
                color = mix(empty, right if true == answered else wrong, shade**0.6)
                painter.fillRect(rect, color)
                if size >= NUMBERS_FROM_PX and number:
                    painter.setPen(QColor("#ffffff" if _is_dark(color) else "#1c2330"))
                    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, f"{number}")
        if self.cell is not None:
            painter.setPen(QPen(QColor(colors.text), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.cell_rect(*self.cell).adjusted(0, 0, -gap, -gap))

    def _paint_names(self, painter: QPainter) -> None:
        place = self._place()
        self._paint_axes(painter, place)
        if place.width() / len(self._names) < NAMES_FROM_PX:
            return
        painter.setFont(self._theme.font(12))
        painter.setPen(QColor(self._theme.colors.dim))
        room = self._name_px() - NAME_GAP_PX
        middle = Qt.AlignmentFlag.AlignVCenter
        for index, name in enumerate(self._names):
            short = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, int(room))
            row = self.cell_rect(index, 0)
            left = QRectF(row.left() - NAME_GAP_PX - room, row.top(), room, row.height())
            painter.drawText(left, middle | Qt.AlignmentFlag.AlignRight, short)
            column = self.cell_rect(0, index)
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
            QRectF(place.left(), 0, place.width(), line), Qt.AlignmentFlag.AlignCenter, "answered"
        )
        painter.save()
        painter.translate(place.left() - self._name_px() - line - 4, place.bottom())
        painter.rotate(-90)
        painter.drawText(
            QRectF(0, 0, place.height(), line), Qt.AlignmentFlag.AlignCenter, "true class"
        )
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

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._mark(None)
