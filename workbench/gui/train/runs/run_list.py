"""The list of runs: filter, selection of one or several, context menu and keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from pathlib import Path

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QMenu,
    QTreeView,
    QWidget,
)

from workbench.core.format import count, plural
from workbench.exports import run_exports
from workbench.gui.common.run_text import quoted_name
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import SortHeader
from workbench.gui.train.runs.run_model import (
    COLUMNS,
    NAME,
    PLACES,
    SUMMARY_ROLE,
    FigureDelegate,
    FilteredRuns,
    RunDelegate,
    RunModel,
    eye_rect,
    in_order,
)
from workbench.gui.train.state import TrainState
from workbench.runs.export.tables import can_write_parquet
from workbench.runs.library.summary import RunSummary

# run menu ------------------------------------------------------------------------------------
# What can be done with the selected runs, as a menu; the list's keys ask for the same.

Ask = Callable[[str, list[RunSummary]], None]
"""Called with what is asked, such as "rename" or "export:keras", and the runs it is for."""

CURVE_FORMATS = {"csv": "Curves as CSV", "parquet": "Curves as Parquet"}


def run_menu(
    parent: QWidget, runs: Sequence[RunSummary], *, shown: Collection[Path], ask: Ask
) -> QMenu:
    """The context menu of the selected runs, at least one; `ask` is called with what was chosen.

    Those in `shown` are drawn on the plots beside the selected one.
    """
    menu = QMenu(parent)
    chosen = list(runs)

    def add(key: str, words: str, *, to: QMenu = menu, is_enabled: bool = True) -> None:
        action = to.addAction(words, lambda: ask(key, chosen))
        action.setEnabled(is_enabled)

    if len(chosen) == 1:
        _add_for_one(menu, chosen[0], add)
    else:
        add("compare", "Compare…")
    all_shown = all(run.path in shown for run in chosen)
    add(
        "hide" if all_shown else "show",
        f"{'Remove from plots' if all_shown else 'Overlay on plots'}\tSpace",
    )
    menu.addSeparator()
    if len(chosen) > 1:
        add("tags", "Add tags…")
    what = "Move to trash" if len(chosen) == 1 else f"Move {plural(len(chosen), 'run')} to trash"
    is_over = all(run.is_over for run in chosen)
    add("delete", f"{what}\tDel" if is_over else what, is_enabled=is_over)
    return menu


def _add_for_one(menu: QMenu, run: RunSummary, add: Callable[..., None]) -> None:
    if run.outcome == "running":
        add("pause", "Pause")
        add("stop", "Stop")
    elif run.outcome == "waiting":
        add("start_now", "Start now")
        add("earlier", "Move up in queue", is_enabled=run.queue_place > 1)
        add("later", "Move down in queue")
        add("cancel", "Remove from queue\tDel")
    elif run.can_resume:
        add("resume", "Resume")
    elif run.outcome == "completed":
        words = "Train longer…" if run.can_train_longer else "Train longer (no checkpoint is kept)"
        add("train_longer", words, is_enabled=run.can_train_longer)
    if run.outcome == "away":
        add("attach", f"Reconnect to {run.on}" if run.on else "Reconnect")
    if run.can_move and not run.can_resume:
        add("go_on_here", "Continue on this computer")
    if menu.actions():
        menu.addSeparator()
    add("open_project", "Open this run's project")
    add("rename", "Rename…\tF2")
    add("tags", "Tags…")
    add("note", "Note…")
    add("card", "Model card…")
    menu.addSeparator()
    add("compare", "Compare with…")
    add("folder", "Open folder")
    add("report", "Report…")
    _add_exports(menu, run, add)


def _add_exports(menu: QMenu, run: RunSummary, add: Callable[..., None]) -> None:
    exports = menu.addMenu("Export")
    for _group, specs in groupby(run_exports().values(), lambda spec: spec.group):
        for spec in specs:
            add(f"export:{spec.key}", f"{spec.title}…", to=exports, is_enabled=run.has_model)
        exports.addSeparator()
    for suffix, words in CURVE_FORMATS.items():
        lacks = suffix == "parquet" and not can_write_parquet()
        text = f"{words} (pyarrow is not installed)…" if lacks else f"{words}…"
        can_write = run.epochs_done > 0
        add(f"curves:{suffix}", text, to=exports, is_enabled=can_write)


# run list ------------------------------------------------------------------------------------

FILTER_TIP = (
    "Search by name, tag, note, data set or state, or by field:\ntag:paper   -failed   "
    "acc>0.8   loss<0.5   epochs>=10   data:cifar"
)


WIDE_FROM_PX = 456
"""From this width on there is room for the names and the columns of what runs have reached."""

NAME_PX = 216
"""Least width of the names beside columns; where room is short, the rest is scrolled to."""

TABLE_PX = 900
LIST_PX = 264


class RunListView(QTreeView):
    """The rows: two lines each, or a table where there is room. `eye_clicked` with a row;
    `key_asked` with what a key means.
    """

    eye_clicked = Signal(QModelIndex)
    key_asked = Signal(str)

    _is_eye_pressed = False
    _KEYS = {  # noqa: RUF012 - a table
        Qt.Key.Key_F2: "rename",
        Qt.Key.Key_Delete: "delete",
        Qt.Key.Key_Space: "toggle",
    }

    def lay_out(self, theme: Theme) -> None:
        """Begins with the order of the model; a click on a heading sorts, a third one ends it."""
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setExpandsOnDoubleClick(False)
        self.setUniformRowHeights(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        header = SortHeader(theme)
        self.setHeader(header)
        self.setObjectName("runs")
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for section, each in enumerate(COLUMNS):
            if each.width_px:
                header.resizeSection(section, each.width_px)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)
        self._show_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_columns()

    @property
    def is_table(self) -> bool:
        """Whether it is wide enough for columns."""
        return self.width() >= WIDE_FROM_PX

    def _show_columns(self) -> None:
        is_wide = self.is_table
        self.header().setVisible(is_wide)
        policy = Qt.ScrollBarPolicy
        self.setHorizontalScrollBarPolicy(
            policy.ScrollBarAsNeeded if is_wide else policy.ScrollBarAlwaysOff
        )
        for key, section in PLACES.items():
            self.setColumnHidden(section, key != NAME and not is_wide)
        others = sum(each.width_px for each in COLUMNS) if is_wide else 0
        least = NAME_PX if is_wide else 0
        self.header().resizeSection(PLACES[NAME], max(least, self.viewport().width() - others))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        asked = self._KEYS.get(Qt.Key(event.key()))
        if asked is None or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        else:
            self.key_asked.emit(asked)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        index = self.indexAt(at)
        is_eye = (
            index.isValid()
            and index.column() == PLACES[NAME]
            and eye_rect(self.visualRect(index)).contains(at)
        )
        self._is_eye_pressed = is_eye and event.button() == Qt.MouseButton.LeftButton
        if self._is_eye_pressed:
            self.eye_clicked.emit(index)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """With the button down on an eye, a hand that trembles selects nothing."""
        if not self._is_eye_pressed:
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        was_eye, self._is_eye_pressed = self._is_eye_pressed, False
        if not was_eye:
            super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Two clicks on an eye are two clicks, and open no project."""
        self.mousePressEvent(event)
        if not self._is_eye_pressed:
            super().mouseDoubleClickEvent(event)


class RunListPanel(QWidget):
    """The runs of the library; selecting a single one makes it the library's current run."""

    def __init__(self, state: TrainState) -> None:
        super().__init__()
        self._state = state
        self._library = state.context.library
        self._is_marking = False
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(184)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter runs")
        self.filter.setAccessibleName("Filter runs")
        self.filter.setToolTip(FILTER_TIP)
        self.filter.setClearButtonEnabled(True)
        self.table = button("Table", role="link")
        self.table.setToolTip("Shows the figures of all runs in columns, or the list again")
        self.others = button("", role="link")
        self.compare = button("Compare…")
        self.compare.setToolTip("Results and differences of the selected runs, side by side")
        self._unfolded = False
        self.model = RunModel(self, self._library.is_own)
        self._shown = FilteredRuns(self, self._library.is_own)
        self._shown.setSourceModel(self.model)
        self.list = RunListView()
        self.hint = plain_label("Runs appear here. Every run is kept.", role="dim", wrap=True)
        self.waiting = plain_label(role="dim", wrap=True)
        self.skip = button("Skip", role="link")
        self.skip.setToolTip("Leaves the calibration and test out: the next run starts")
        self._build(state.context.theme)
        self._connect(state.context.theme)
        self._on_runs_changed()
        self._show_eyes()
        self._show_compare()

    def _build(self, theme: Theme) -> None:
        self.list.setModel(self._shown)
        self.list.setItemDelegate(FigureDelegate(theme, self.list))
        self.list.setItemDelegateForColumn(PLACES[NAME], RunDelegate(theme, self.list))
        self.list.setMouseTracking(True)
        self.list.lay_out(theme)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setAccessibleName("Runs")
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        line = row((self.filter, 1), self.table, spacing=8)
        queue = row((self.waiting, 1), self.skip, spacing=8)
        top = column(line, queue, self.hint, self.others, margins=(14, 0, 14, 0))
        below = column(self.compare, margins=(14, 0, 14, 8))
        column(top, (self.list, 1), below, parent=self, margins=(0, 8, 0, 0), spacing=8)

    def _connect(self, theme: Theme) -> None:
        self.filter.textChanged.connect(self._on_filter)
        self.list.selectionModel().selectionChanged.connect(self._on_selected)
        self.list.customContextMenuRequested.connect(self._on_menu_wanted)
        self.list.eye_clicked.connect(self._on_eye)
        self.list.doubleClicked.connect(self._on_double_clicked)
        self.list.key_asked.connect(self._on_key)
        self.table.clicked.connect(self._on_table)
        self.others.clicked.connect(self._on_others)
        self.compare.clicked.connect(self._on_compare)
        self.skip.clicked.connect(self._on_skip)
        self._state.compare_asked.connect(self._on_compare)
        self._library.runs_changed.connect(self._on_runs_changed)
        self._library.project_changed.connect(self._on_project_changed)
        self._library.current_changed.connect(self._mark_current)
        self._state.overlays.changed.connect(self._show_eyes)
        theme.changed.connect(self.list.viewport().update)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.table.setText("List" if self.width() >= WIDE_FROM_PX else "Table")

    # what is shown -----------------------------------------------------------------------

    def _on_runs_changed(self) -> None:
        runs = self._library.runs
        own = [run for run in runs if self._library.is_own(run)]
        others = [run for run in runs if not self._library.is_own(run)]
        self._quietly(lambda: self.model.set_runs([*in_order(own), *in_order(others)]))
        for part in (self.filter, self.table):
            part.setVisible(len(runs) >= 2)
        self._show_queue()
        self._fold()
        self._mark_current()

    def _show_queue(self) -> None:
        """Shows how many runs wait, and what the next one waits for where it could start."""
        number, before = self._library.num_waiting, self._library.held_up_by
        words = f"{count(number)} queued"
        if before is not None:
            is_short = before.number and self._library.is_own(before)
            name = f"Run {before.number}" if is_short else quoted_name(before)
            words += f". {name} is trained; still {before.after}."
        self.waiting.setText(words)
        self.waiting.setVisible(number > 0)
        self.skip.setVisible(before is not None)

    def _on_skip(self) -> None:
        before = self._library.held_up_by
        if before is not None:
            self._library.skip(before.path, is_all=True)

    def _on_project_changed(self) -> None:
        """Which runs are the project's own has changed for rows that stay as they are."""
        self._on_runs_changed()
        self._quietly(self._shown.invalidate)
        self._mark_current()

    def _fold(self) -> None:
        """The runs of other projects are folded away, but where one of them is looked at."""
        number = sum(not self._library.is_own(run) for run in self._library.runs)
        current = self._library.current
        summary = self._library.summary(current.run.path) if current is not None else None
        is_looked_at = summary is not None and not self._library.is_own(summary)
        is_folded = number > 0 and not (self._unfolded or is_looked_at)
        self._quietly(lambda: self._shown.set_folded(is_folded=is_folded))
        mark = "▸" if is_folded else "▾"
        self.others.setText(f"{mark} {plural(number, 'run')} of other projects")
        self.others.setVisible(number > 0)
        self._show_hint()

    def _on_others(self) -> None:
        self._unfolded = self._shown.is_folded
        self._fold()
        self._mark_current()

    def _on_table(self) -> None:
        """Makes the panel as wide as all columns, or as narrow as a list."""
        if self.list.is_table:
            self._state.width_asked.emit(self, LIST_PX, 0)
        else:
            self._state.width_asked.emit(self, TABLE_PX, WIDE_FROM_PX)

    def _on_filter(self, words: str) -> None:
        self._quietly(lambda: self._shown.set_words(words))
        self._show_hint()
        self._mark_current()

    def _show_hint(self) -> None:
        num_runs, num_shown = len(self.model.runs), self._shown.rowCount()
        if self._shown.is_folded and not self.filter.text().strip():
            is_empty = num_shown == 0
            self.hint.setText("This project has no run yet." if is_empty else "")
            self.hint.setVisible(is_empty)
            return
        if num_runs and not num_shown:
            self.hint.setText(f"None of {count(num_runs)} runs match.")
        elif num_runs:
            self.hint.setText(f"{count(num_shown)} of {count(num_runs)} runs")
        else:
            self.hint.setText("Runs appear here. Every run is kept.")
        self.hint.setVisible(num_shown < num_runs or not num_runs)

    def _show_eyes(self) -> None:
        self.model.set_eyes(self._state.overlays.colors)

    def _mark_current(self) -> None:
        current = self._library.current
        path = current.run.path if current is not None else None
        if self._shown.is_folded:
            self._fold()
        if path in {run.path for run in self.selected()}:
            return
        rows = [i for i, run in enumerate(self.model.runs) if run.path == path]
        index = self._shown.mapFromSource(self.model.index(rows[0], 0)) if rows else QModelIndex()
        flags = QItemSelectionModel.SelectionFlag
        how = flags.ClearAndSelect | flags.Rows
        self._quietly(lambda: self.list.selectionModel().setCurrentIndex(index, how))

    def _quietly(self, change: Callable[[], None]) -> None:
        """Changes the list without taking it as the user's choice."""
        before, self._is_marking = self._is_marking, True
        change()
        self._is_marking = before

    # what is chosen ----------------------------------------------------------------------

    def selected(self) -> list[RunSummary]:
        """The selected runs, from top to bottom."""
        rows = sorted({index.row() for index in self.list.selectionModel().selectedIndexes()})
        found = (self._shown.index(row, 0).data(SUMMARY_ROLE) for row in rows)
        return [run for run in found if isinstance(run, RunSummary)]

    def _on_compare(self) -> None:
        """Opens the comparison of the selected runs; for a single one, the dialog offers others."""
        runs = self.selected() or [run for run in self._library.runs if self._library.is_own(run)]
        if runs:
            self._state.runs_asked.emit("compare", runs if self.selected() else runs[:1])

    def _show_compare(self) -> None:
        """Below the list: nothing in it moves while more rows are being selected."""
        number = len(self.selected())
        self.compare.setText(f"Compare {plural(number, 'run')}…" if number > 1 else "Compare…")
        self.compare.setVisible(number > 1)

    def _on_selected(self, _selected: QItemSelection, _deselected: QItemSelection) -> None:
        self._show_compare()
        chosen = [] if self._is_marking else self.selected()
        if len(chosen) == 1:
            self._library.select(chosen[0].path, by_user=True)

    def _on_eye(self, index: QModelIndex) -> None:
        run = index.data(SUMMARY_ROLE)
        if isinstance(run, RunSummary):
            self._library.toggle_shown(run.path)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        run = index.data(SUMMARY_ROLE)
        if isinstance(run, RunSummary):
            self._state.runs_asked.emit("open_project", [run])

    def _on_key(self, asked: str) -> None:
        runs = self.selected()
        if asked == "toggle":
            all_shown = all(run.path in self._library.shown for run in runs)
            asked = "hide" if all_shown else "show"
        if asked == "delete" and runs and all(run.queue_place for run in runs):
            asked = "cancel"
        if runs and (asked != "delete" or all(run.is_over for run in runs)):
            self._state.runs_asked.emit(asked, runs[:1] if asked == "rename" else runs)

    def _on_menu_wanted(self, at: QPoint) -> None:
        index = self.list.indexAt(at)
        if not index.isValid():  # asked for with the keyboard: at the current row
            index = self.list.currentIndex()
            at = self.list.visualRect(index).center()
        run = index.data(SUMMARY_ROLE)
        if not isinstance(run, RunSummary):
            return
        runs = self.selected()
        menu = self.make_menu(runs if run in runs else [run])
        menu.exec(self.list.viewport().mapToGlobal(at))
        menu.deleteLater()

    def make_menu(self, runs: list[RunSummary]) -> QMenu:
        """The context menu of some runs."""
        return run_menu(self, runs, shown=self._library.shown, ask=self._state.runs_asked.emit)
