"""The list of runs: name, accuracy, state in words; filter and context menu."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from workbench.client.run_library import RunLibrary
from workbench.exports import all_exports
from workbench.gui.run_words import state_words
from workbench.gui.theme import Theme
from workbench.gui.widgets.labels import plain_label, plain_tip
from workbench.gui.widgets.numbers import share
from workbench.runs.index import RunSummary

Index = QModelIndex | QPersistentModelIndex

ROW_HEIGHT_PX = 52
SUMMARY_ROLE = int(Qt.ItemDataRole.UserRole)
FILTER_FROM_RUNS = 2


def state_color(theme: Theme, outcome: str) -> str:
    """Colour of the dot of a run; the words beside it say the same."""
    colors = theme.colors
    return {
        "running": colors.train,
        "completed": colors.good,
        "stopped": colors.faint,
        "silent": colors.warning,
    }.get(outcome, colors.bad)


class RunModel(QAbstractListModel):
    """The runs of a library as a Qt model."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.runs: list[RunSummary] = []

    def set_runs(self, runs: list[RunSummary]) -> None:
        """Shows another list; where only figures differ, rows stay."""
        if [run.path for run in runs] == [run.path for run in self.runs]:
            self.runs = list(runs)
            if runs:
                self.dataChanged.emit(self.index(0), self.index(len(runs) - 1))
            return
        self.beginResetModel()
        self.runs = list(runs)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.runs)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        run = self.runs[index.row()]
        texts = {
            int(Qt.ItemDataRole.DisplayRole): f"{run.title} {state_words(run)}",
            int(Qt.ItemDataRole.AccessibleTextRole): f"{run.title}, {state_words(run)}",
            int(Qt.ItemDataRole.ToolTipRole): plain_tip(f"{run.title}\n{run.words}\n{run.name}"),
        }
        return run if role == SUMMARY_ROLE else texts.get(int(role))


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
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = self._theme.colors
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(colors.accent_soft))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, QColor(colors.hover))
        painter.setPen(QColor(colors.line))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        self._paint_words(painter, rect, run)
        painter.restore()

    def _paint_words(self, painter: QPainter, rect: QRect, run: RunSummary) -> None:
        colors = self._theme.colors
        inner = rect.adjusted(14, 7, -14, -7)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(state_color(self._theme, run.outcome)))
        painter.drawEllipse(QPoint(inner.left() + 4, inner.top() + 9), 4, 4)
        accuracy = run.test_accuracy if run.test_accuracy is not None else run.best_val_accuracy
        figure = "" if accuracy is None else share(accuracy)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        top = QRect(inner.left() + 15, inner.top(), inner.width() - 15, 18)
        painter.setFont(self._theme.font(13, tabular=True))
        painter.setPen(QColor(colors.text))
        painter.drawText(top, right, figure)
        top.setRight(top.right() - painter.fontMetrics().horizontalAdvance(figure) - 8)
        painter.setFont(self._theme.font(13, weight=600))
        elide = Qt.TextElideMode.ElideRight
        painter.drawText(top, left, painter.fontMetrics().elidedText(run.title, elide, top.width()))
        below = QRect(inner.left(), inner.top() + 20, inner.width(), 18)
        painter.setFont(self._theme.font(12))
        painter.setPen(QColor(colors.dim))
        words = painter.fontMetrics().elidedText(state_words(run), elide, below.width())
        painter.drawText(below, left, words)


class RunListPanel(QWidget):
    """The runs of a library; selecting one makes it the library's current run.

    Signals ask for what needs a question or another process:
        rename_wanted, folder_wanted, delete_wanted: with the RunSummary.
        export_wanted: with the RunSummary and the key of the format.
    """

    rename_wanted = Signal(object)
    folder_wanted = Signal(object)
    delete_wanted = Signal(object)
    export_wanted = Signal(object, str)

    def __init__(self, theme: Theme, library: RunLibrary) -> None:
        super().__init__()
        self._library = library
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(184)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter runs")
        self.filter.setAccessibleName("Filter runs")
        self.filter.setClearButtonEnabled(True)
        self.model = RunModel(self)
        self._shown = QSortFilterProxyModel(self)
        self._shown.setSourceModel(self.model)
        self._shown.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.list = QListView()
        self.hint = plain_label("Runs appear here. Each training is kept.", role="dim", wrap=True)
        self._build(theme)
        self.filter.textChanged.connect(self._shown.setFilterFixedString)
        self.list.selectionModel().currentChanged.connect(self._on_row_changed)
        self.list.customContextMenuRequested.connect(self._on_menu_wanted)
        library.runs_changed.connect(self._on_runs_changed)
        library.current_changed.connect(self._mark_current)
        theme.changed.connect(self.list.viewport().update)
        self._on_runs_changed()

    def _build(self, theme: Theme) -> None:
        self.list.setModel(self._shown)
        self.list.setItemDelegate(RunDelegate(theme, self.list))
        self.list.setMouseTracking(True)
        self.list.setUniformItemSizes(True)
        self.list.setAccessibleName("Runs")
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        top = QVBoxLayout()
        top.setContentsMargins(14, 0, 14, 0)
        top.addWidget(self.filter)
        top.addWidget(self.hint)
        column.addLayout(top)
        column.addWidget(self.list, 1)

    def _on_runs_changed(self) -> None:
        runs = self._library.runs
        self.model.set_runs(runs)
        self.hint.setVisible(not runs)
        self.filter.setVisible(len(runs) >= FILTER_FROM_RUNS)
        self._mark_current()

    def _mark_current(self) -> None:
        current = self._library.current
        path = current.run.path if current is not None else None
        rows = [i for i, run in enumerate(self.model.runs) if run.path == path]
        index = self._shown.mapFromSource(self.model.index(rows[0])) if rows else QModelIndex()
        if index != self.list.currentIndex():
            self.list.setCurrentIndex(index)

    def _on_row_changed(self, index: QModelIndex, _before: QModelIndex) -> None:
        run = index.data(SUMMARY_ROLE)
        if isinstance(run, RunSummary):
            self._library.select(run.path)

    def _on_menu_wanted(self, at: QPoint) -> None:
        run = self.list.indexAt(at).data(SUMMARY_ROLE)
        if isinstance(run, RunSummary):
            menu = self.make_menu(run)
            menu.exec(self.list.viewport().mapToGlobal(at))
            menu.deleteLater()

    def make_menu(self, run: RunSummary) -> QMenu:
        """The context menu of a run."""
        menu = QMenu(self)
        menu.addAction("Rename…", lambda: self.rename_wanted.emit(run))
        menu.addAction("Open its folder", lambda: self.folder_wanted.emit(run))
        exports = menu.addMenu("Export")
        exports.setEnabled(run.has_model)
        for key, spec in all_exports().items():
            exports.addAction(f"{spec.title}…", partial(self.export_wanted.emit, run, key))
        menu.addSeparator()
        delete = menu.addAction("Move to trash", lambda: self.delete_wanted.emit(run))
        delete.setEnabled(run.is_over)
        return menu

    def select_path(self, path: Path) -> None:
        """Makes a run current, as a click does."""
        self._library.select(path)
