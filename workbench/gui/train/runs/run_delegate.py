"""How one run of the list is drawn: its state, its figure, its tags, its eye for the plots."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from workbench.gui.common.run_text import elide_mode, state_words
from workbench.gui.kit.theme import Theme
from workbench.runs.library.summary import RunSummary
from workbench.runs.log.scores import figure_words

ROW_HEIGHT_PX = 52
SUMMARY_ROLE = int(Qt.ItemDataRole.UserRole)
EYE_COLOR_ROLE = SUMMARY_ROLE + 1
PROJECT_ROLE = SUMMARY_ROLE + 2
EYE_PX = 16
CHIP_PX = 16
_MARGIN_PX = 14
_DOT_PX = 15
_CHIPS_SHARE = 0.5  # of the second line, at most

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_CENTER = Qt.AlignmentFlag.AlignCenter
_ELIDE = Qt.TextElideMode.ElideRight

Index = QModelIndex | QPersistentModelIndex


def state_color(theme: Theme, outcome: str, verdict: str = "") -> str:
    """Color of the dot of a run; the words beside it say the same."""
    colors = theme.colors
    if verdict and outcome in ("completed", "stopped"):
        return colors.warning
    return {
        "running": colors.train,
        "completed": colors.good,
        "stopped": colors.faint,
        "paused": colors.frozen,
        "waiting": colors.faint,
        "silent": colors.warning,
        "away": colors.warning,
    }.get(outcome, colors.bad)


def eye_rect(row: QRect) -> QRect:
    """Rectangle of a row's eye, with some room around it for the pointer."""
    return QRect(row.right() - _MARGIN_PX - EYE_PX - 3, row.top() + 5, EYE_PX + 8, EYE_PX + 8)


class RunDelegate(QStyledItemDelegate):
    """Draws one run in two lines."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(180, ROW_HEIGHT_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        run = index.data(SUMMARY_ROLE)
        if not isinstance(run, RunSummary):
            return
        rect: QRect = option.rect
        state, colors = option.state, self._theme.colors
        is_hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        if is_selected:
            painter.fillRect(rect, QColor(colors.accent_soft))
        elif is_hovered:
            painter.fillRect(rect, QColor(colors.hover))
        painter.setPen(QColor(colors.line))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(colors.accent))
            painter.drawLine(rect.topLeft(), rect.bottomLeft())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        inner = rect.adjusted(_MARGIN_PX, 7, -_MARGIN_PX, -7)
        self._paint_first_line(painter, inner, run)
        project = index.data(PROJECT_ROLE)
        words = " · ".join(filter(None, (project, state_words(run))))
        below = QRect(inner.left(), inner.top() + 20, inner.width(), 18)
        self._paint_figure(painter, below, run)
        self._paint_second_line(painter, below, run.tags, words)
        eye = index.data(EYE_COLOR_ROLE)
        if eye or is_hovered or is_selected:
            self._paint_eye(painter, rect, eye or colors.faint)
        painter.restore()

    def _paint_first_line(self, painter: QPainter, inner: QRect, run: RunSummary) -> None:
        colors = self._theme.colors
        color = QColor(state_color(self._theme, run.outcome, run.verdict))
        middle = QPoint(inner.left() + 4, inner.top() + 9)
        is_ring = run.outcome in ("waiting", "paused")  # it can begin, or go on
        painter.setPen(color if is_ring else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush if is_ring else color)
        painter.drawEllipse(middle, 4, 4)
        width = inner.width() - _DOT_PX - EYE_PX - 6
        top = QRect(inner.left() + _DOT_PX, inner.top(), width, 18)
        painter.setPen(QColor(colors.text))
        painter.setFont(self._theme.font(13, weight=600))
        title = painter.fontMetrics().elidedText(run.label, elide_mode(run.label), top.width())
        painter.drawText(top, _LEFT, title)

    def _paint_figure(self, painter: QPainter, line: QRect, run: RunSummary) -> None:
        """Writes the accuracy at the right of a line, which is as much shorter afterwards."""
        figure = figure_words(run.test_accuracy, run.val_accuracy)
        painter.setFont(self._theme.font(12, tabular=True))
        painter.setPen(QColor(self._theme.colors.text))
        painter.drawText(line, _RIGHT, figure)
        line.setRight(line.right() - painter.fontMetrics().horizontalAdvance(figure) - 8)

    def _paint_second_line(
        self, painter: QPainter, below: QRect, tags: list[str], words: str
    ) -> None:
        below.setRight(self._paint_chips(painter, below, tags))
        painter.setFont(self._theme.font(12))
        painter.setPen(QColor(self._theme.colors.dim))
        painter.drawText(below, _LEFT, fitting(words, painter.fontMetrics(), below.width()))

    def _paint_chips(self, painter: QPainter, line: QRect, tags: list[str]) -> int:
        """Draws tags from the right; returns where the room left of them ends."""
        painter.setFont(self._theme.font(11))
        right = line.right()
        for text, width in chips(tags, painter.fontMetrics(), round(line.width() * _CHIPS_SHARE)):
            chip = QRectF(right - width, line.top() + 1, width, CHIP_PX)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.colors.line))
            painter.drawRoundedRect(chip, 5, 5)
            painter.setPen(QColor(self._theme.colors.text))
            painter.drawText(chip, _CENTER, text)
            right -= width + 4
        return right - 4 if tags else line.right()

    def _paint_eye(self, painter: QPainter, row: QRect, color: str) -> None:
        place = eye_rect(row).adjusted(4, 4, -4, -4)
        self._theme.icon("eye", color).paint(painter, place)


class FigureDelegate(QStyledItemDelegate):
    """The other columns, with the line below a row that the first one has."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        rect: QRect = option.rect
        painter.setPen(QColor(self._theme.colors.line))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())


def fitting(words: str, metrics: QFontMetrics, room_px: int) -> str:
    """What fits of the words about a run: all, or a verdict without its reason; else elided."""
    head = words.partition(": ")[0]
    is_all = metrics.horizontalAdvance(words) <= room_px
    is_head = not is_all and metrics.horizontalAdvance(head) <= room_px
    return head if is_head else metrics.elidedText(words, _ELIDE, room_px)


def chips(tags: list[str], metrics: QFontMetrics, room_px: int) -> list[tuple[str, int]]:
    """(text, width) of the chips that fit, from the right; the rest are counted: "+2"."""
    shown: list[tuple[str, int]] = []
    used = 0
    for place, tag in enumerate(tags):
        text = metrics.elidedText(tag, _ELIDE, 72)
        width = metrics.horizontalAdvance(text) + 10
        rest = len(tags) - place
        if used + width > room_px and (shown or rest > 1):
            more = f"+{rest}"
            shown.insert(0, (more, metrics.horizontalAdvance(more) + 10))
            return shown
        shown.insert(0, (text, width))
        used += width + 4
    return shown
