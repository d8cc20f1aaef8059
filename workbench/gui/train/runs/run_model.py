"""The runs of a library as Qt models: the table, and what a filter leaves of it, in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from workbench.core.format import count, duration, share
from workbench.gui.common.run_text import elide_mode, state_words, when
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme
from workbench.runs.library.index import matches
from workbench.runs.library.summary import RunSummary
from workbench.runs.log.texts import figure_words

# run columns ---------------------------------------------------------------------------------
# The columns of the table of runs: their values and sort keys.

NAME = "name"
"""Key of the column with the run's name, the only one of a narrow list."""


@dataclass(frozen=True)
class RunColumn:
    """One column.

    Attributes:
        key: What it is known by.
        title: Its heading.
        width_px: Its width; 0 for the first, which takes what is left.
        value: What it is sorted by; None where a run has none, which comes last.
        words: What is written there.
        tip: What the figures are of; "" where the title says it.
        is_number: Whether it holds figures, which end at the right as their heading does.
    """

    key: str
    title: str
    width_px: int
    value: Callable[[RunSummary], float | str | None]
    words: Callable[[RunSummary], str]
    tip: str = ""
    is_number: bool = False


def _number(value: float | None, show: Callable[[float], str]) -> str:
    return "–" if value is None else show(value)


def _epochs(run: RunSummary) -> str:
    return count(run.epochs_done) if run.is_over else f"{count(run.epochs_done)} / {run.epochs}"


COLUMNS: tuple[RunColumn, ...] = (
    RunColumn(
        NAME, "Run", 0, lambda run: run.number or run.label.casefold(), lambda run: run.label
    ),
    RunColumn("state", "State", 84, lambda run: run.outcome, lambda run: run.state.capitalize()),
    RunColumn(
        "val_accuracy",
        "Val. acc.",
        76,
        lambda run: run.val_accuracy,
        lambda run: share(run.val_accuracy),
        tip="Of the saved weights, as the test accuracy; during training of those that would be "
        "saved now. The header of a run shows its best epoch.",
        is_number=True,
    ),
    RunColumn(
        "test_accuracy",
        "Test acc.",
        76,
        lambda run: run.test_accuracy,
        lambda run: share(run.test_accuracy),
        tip="Of the saved weights",
        is_number=True,
    ),
    RunColumn(
        "learning_rate",
        "Rate",
        76,
        lambda run: run.learning_rate,
        lambda run: _number(run.learning_rate, "{:g}".format),
        is_number=True,
    ),
    RunColumn(
        "batch_size",
        "Batch",
        64,
        lambda run: run.batch_size,
        lambda run: _number(run.batch_size, "{:,.0f}".format),
        is_number=True,
    ),
    RunColumn("epochs", "Epochs", 72, lambda run: run.epochs_done, _epochs, is_number=True),
    RunColumn(
        "duration",
        "Duration",
        96,
        lambda run: run.seconds or None,
        lambda run: _number(run.seconds, duration),
        is_number=True,
    ),
    RunColumn("date", "Date", 104, lambda run: run.created, lambda run: when(run.created)),
)

PLACES: Mapping[str, int] = {each.key: place for place, each in enumerate(COLUMNS)}
"""Where each column is, by its key."""


# run delegate --------------------------------------------------------------------------------
# How one run of the list is drawn: its state, its figure, its tags, its eye for the plots.

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


# run model -----------------------------------------------------------------------------------


class RunModel(QAbstractTableModel):
    """The runs of a library, a row each; the columns are those of `COLUMNS`."""

    def __init__(self, parent: QWidget, is_own: Callable[[RunSummary], bool]) -> None:
        super().__init__(parent)
        self._is_own = is_own
        self.runs: list[RunSummary] = []
        self._eyes: dict[Path, str] = {}

    def set_runs(self, runs: list[RunSummary]) -> None:
        """Shows another list; rows that stay keep their selection and their place.

        Runs are known by their folder's name: comparing a thousand paths takes far longer.
        """
        wanted = [run.name for run in runs]
        if self.runs and runs:
            self._remove_all_but(set(wanted))
        shown = {run.name for run in self.runs}
        is_same_order = [run.name for run in self.runs] == [n for n in wanted if n in shown]
        if not self.runs or not is_same_order:
            self.beginResetModel()
            self.runs = list(runs)
            self.endResetModel()
            return
        for row, run in enumerate(runs):
            if run.name not in shown:
                self.beginInsertRows(QModelIndex(), row, row)
                self.runs.insert(row, run)
                self.endInsertRows()
        self._update(runs)

    def _remove_all_but(self, wanted: set[str]) -> None:
        for row in reversed(range(len(self.runs))):
            if self.runs[row].name not in wanted:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self.runs[row]
                self.endRemoveRows()

    def _update(self, runs: list[RunSummary]) -> None:
        """Updates the same runs in the same rows: emits which of them have other figures."""
        pairs = zip(self.runs, runs, strict=True)
        changed = [row for row, (old, new) in enumerate(pairs) if old != new]
        self.runs = list(runs)
        for row in changed:
            self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))

    def set_eyes(self, colors: Mapping[Path, str]) -> None:
        """Colors of the runs that are drawn on the plots beside the selected one."""
        if self._eyes == colors:
            return
        self._eyes = dict(colors)
        if self.runs:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.runs) - 1, 0))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.runs)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return COLUMNS[section].tip
        return COLUMNS[section].title if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        get = self._ROLES.get(role) if index.isValid() else None
        return get(self, self.runs[index.row()], index.column()) if get is not None else None

    def _project(self, run: RunSummary, _column: int) -> str:
        return "" if self._is_own(run) else run.project

    def _text(self, run: RunSummary, column: int) -> str:
        shown = COLUMNS[column]
        return self._words(run) if shown.key == NAME else shown.words(run)

    _ROLES: ClassVar[dict[int, Callable[[RunModel, RunSummary, int], object]]] = {
        SUMMARY_ROLE: lambda _self, run, _column: run,
        PROJECT_ROLE: _project,
        EYE_COLOR_ROLE: lambda self, run, _column: self._eyes.get(run.path, ""),
        Qt.ItemDataRole.DisplayRole: _text,
        Qt.ItemDataRole.AccessibleTextRole: _text,
        Qt.ItemDataRole.ToolTipRole: lambda _self, run, _column: plain_tip(
            "\n".join(filter(None, tip_lines(run)))
        ),
        Qt.ItemDataRole.TextAlignmentRole: lambda _self, _run, column: _alignment(column),
    }

    def _words(self, run: RunSummary) -> str:
        on_plot = "overlaid on plots" if run.path in self._eyes else ""
        return ", ".join(filter(None, (run.label, state_words(run), *run.tags, on_plot)))


def _alignment(column: int) -> Qt.AlignmentFlag:
    """Figures and their heading end at the right."""
    is_number = COLUMNS[column].is_number
    side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def in_order(runs: list[RunSummary]) -> list[RunSummary]:
    """Runs as they are listed: those that wait, the next one first, then the newest."""
    waiting = sorted((run for run in runs if run.queue_place), key=lambda run: run.queue_place)
    return [*waiting, *(run for run in runs if not run.queue_place)]


def tip_lines(run: RunSummary) -> list[str]:
    """What a run's tooltip says."""
    tags = f"Tags: {', '.join(run.tags)}" if run.tags else ""
    return [run.label, run.words, run.note, tags, run.name]


class FilteredRuns(QSortFilterProxyModel):
    """The runs that match what was typed: words, tag:x, acc>0.8. Those of the open project come
    first, however they are sorted; those of others are left out while they are folded away.
    """

    def __init__(self, parent: QWidget, is_own: Callable[[RunSummary], bool]) -> None:
        super().__init__(parent)
        self._words = ""
        self._is_own = is_own
        self.is_folded = False

    def set_words(self, words: str) -> None:
        """Filters by other words; "" shows all."""
        self._words = words.strip()
        self.invalidate()

    def set_folded(self, *, is_folded: bool) -> None:
        """Leaves the runs of other projects out, but where words are looked for; or shows them."""
        if is_folded != self.is_folded:
            self.is_folded = is_folded
            self.invalidate()

    def lessThan(self, left: Index, right: Index) -> bool:
        """By the column's value; the open project's first and what has no value last, in both
        directions.
        """
        a, b = left.data(SUMMARY_ROLE), right.data(SUMMARY_ROLE)
        is_up = self.sortOrder() is Qt.SortOrder.AscendingOrder
        if self._is_own(a) != self._is_own(b):
            return self._is_own(a) == is_up
        x, y = (COLUMNS[left.column()].value(run) for run in (a, b))
        if x is None or y is None:
            return (y is None and x is not None) == is_up and x is not y
        return x < y if isinstance(x, str) == isinstance(y, str) else isinstance(y, str)  # type: ignore[operator]

    def filterAcceptsRow(self, row: int, _parent: Index) -> bool:
        source = self.sourceModel()
        run = source.runs[row] if isinstance(source, RunModel) else None
        if run is None or (self.is_folded and not self._words and not self._is_own(run)):
            return False
        return not self._words or matches(run, self._words)
