"""The curves of a run, or how each of its classes is learned: two pages in one place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QSlider,
    QSplitter,
    QWidget,
)

from workbench.client.background import Background
from workbench.client.run_follower import RunFollower
from workbench.core.evaluation.confusion import Confusion
from workbench.core.format import share
from workbench.errors import WorkbenchError
from workbench.gui.common.confusion_matrix import POINT_AT, ConfusionMatrix
from workbench.gui.kit.buttons import SegmentedSwitch
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import add_to, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.axes import PlotAxes
from workbench.gui.plots.scaling import X_AXES
from workbench.gui.train.plots.legend import OVERLAY_COLORS
from workbench.gui.train.plots.run_plots import RunPlots
from workbench.protocol.events import DataReady, EpochFinished, RunEvent
from workbench.runs.folder import RunFolder
from workbench.runs.log.confusion_history import read_class_accuracy, read_confusion

# class marks ---------------------------------------------------------------------------------
# The classes beside their curves: accuracy at the chosen epoch, and which are marked.

Values = np.ndarray[Any, np.dtype[Any]]

NUM_WORST = 5
_SWATCH_PX = QSize(12, 12)


class ClassMarks(QListWidget):
    """One line a class, with a tick that marks its curve.

    At first all are marked while there are colors enough, else those that are learned worst.
    `changed` with the marked classes as a dict: number -> "#rrggbb".
    """

    changed = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._names: list[str] = []
        self._colors: dict[int, str] = {}
        self.setAccessibleName("Accuracy per class")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(theme.font(12, tabular=True))
        self.setFixedWidth(190)
        self.setIconSize(_SWATCH_PX)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.itemChanged.connect(self._on_item_changed)

    def clear(self) -> None:
        """Forgets classes and marks, for another run."""
        super().clear()
        self._names, self._colors = [], {}

    def set_classes(self, names: Sequence[str], table: Values) -> None:
        """Lists classes, in label order; marks of the same ones stay. `table` has their
        accuracies, shape (epochs, classes).
        """
        if list(names) != self._names:
            self._fill(list(names), table[-1])
        self.changed.emit(dict(self._colors))

    def _fill(self, names: list[str], last: Values) -> None:
        self.clear()
        self._names = names
        worst_first = np.argsort(np.where(np.isfinite(last), last, np.inf), kind="stable")
        has_colors = len(names) <= len(OVERLAY_COLORS)
        marked = range(len(names)) if has_colors else worst_first[:NUM_WORST]
        self._colors = {int(i): OVERLAY_COLORS[n] for n, i in enumerate(marked)}
        with QSignalBlocker(self):
            for index, name in enumerate(names):
                item = QListWidgetItem()
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                item.setToolTip(plain_tip(name))
                self.addItem(item)
                self._show_mark(index)

    def set_values(self, values: Values) -> None:
        """Shows each class's accuracy, 0..1; NaN where it had no image."""
        with QSignalBlocker(self):
            for index, name in enumerate(self._names):
                self.item(index).setText(f"{share(float(values[index]))}  {name}")

    def _show_mark(self, index: int) -> None:
        item, color = self.item(index), self._colors.get(index)
        item.setCheckState(Qt.CheckState.Checked if color else Qt.CheckState.Unchecked)
        pixmap = QPixmap(_SWATCH_PX)
        pixmap.fill(QColor(color) if color else Qt.GlobalColor.transparent)
        item.setIcon(QIcon(pixmap))

    def _on_item_changed(self, item: QListWidgetItem) -> None:
        index = self.row(item)
        is_on = item.checkState() == Qt.CheckState.Checked
        if is_on == (index in self._colors):
            return
        if is_on:
            self._colors[index] = min(OVERLAY_COLORS, key=list(self._colors.values()).count)
        else:
            del self._colors[index]
        with QSignalBlocker(self):
            self._show_mark(index)
        self.changed.emit(dict(self._colors))


# class plot ----------------------------------------------------------------------------------
# The recall of each class over the epochs: a faint line a class, some of them marked.

Table = np.ndarray[Any, np.dtype[Any]]

MANY_LINES = 20


class ClassAccuracyPlot(PlotAxes):
    """Lines over the epochs, and a line at the chosen one.

    `epoch_clicked` with the number of the epoch nearest to a click, from 1.
    """

    epoch_clicked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, is_share=True, y_words="Recall")
        self.setAccessibleName("Recall per class over epochs")
        self.setMinimumSize(220, 120)
        self._table: Table = np.zeros((0, 0))
        self._marked: dict[int, str] = {}
        self.lines: list[pg.PlotCurveItem] = []
        self.set_x_kind("epoch", X_AXES["epoch"], is_log=False)
        self.box.setMouseEnabled(x=False, y=False)
        self.scene().sigMouseClicked.connect(self._on_clicked)
        theme.changed.connect(self._color)

    def set_table(self, table: Table) -> None:
        """Shows these recalls, 0..1, shape (epochs, classes); NaN stays a gap."""
        for line in self.lines[table.shape[1] :]:
            self.plot_item.removeItem(line)
        del self.lines[table.shape[1] :]
        while len(self.lines) < table.shape[1]:
            line = pg.PlotCurveItem(antialias=True, connect="finite")
            self.plot_item.addItem(line, ignoreBounds=True)
            self.lines.append(line)
        self._table = table
        epochs = np.arange(1, len(table) + 1)
        for line, values in zip(self.lines, table.T, strict=True):
            line.setData(epochs, values)
        self._color()
        self.set_x_range((0.0, 1.02 * max(1, len(table))))
        finite = table[np.isfinite(table)]
        low = float(finite.min()) if len(finite) else 0.0
        self.set_y_range((low, max(1.0, low + 0.1)))

    def set_marked(self, marked: dict[int, str]) -> None:
        """Draws these classes in a color of their own, above the rest."""
        self._marked = dict(marked)
        self._color()

    def set_epoch(self, epoch: int | None) -> None:
        """Places the line at an epoch."""
        self.show_line(None if epoch is None else float(epoch))

    def _color(self) -> None:
        faint = QColor(self._theme.colors.dim)
        faint.setAlpha(max(25, 90 * MANY_LINES // max(MANY_LINES, len(self.lines))))
        dots: list[tuple[Any, Any, str]] = []
        epochs = np.arange(1, len(self._table) + 1)
        for index, line in enumerate(self.lines):
            color = self._marked.get(index)
            line.setPen(pg.mkPen(QColor(color), width=2.0) if color else pg.mkPen(faint))
            line.setZValue(20 if color else 10)
            if color and len(epochs) <= 60:
                dots.append((epochs, self._table[:, index], color))
        self.set_dots(dots, is_log=False)

    def _on_clicked(self, event: Any) -> None:
        is_inside = self.box.sceneBoundingRect().contains(event.scenePos())
        if event.button() != Qt.MouseButton.LeftButton or not is_inside or not len(self._table):
            return
        epoch = round(self.box.mapSceneToView(event.scenePos()).x())
        self.epoch_clicked.emit(min(len(self._table), max(1, epoch)))


# class accuracy ------------------------------------------------------------------------------
# How each class is learned: its recall over the epochs, and what was taken for what after
# the chosen epoch.

NOTHING_YET = (
    "First values after the first epoch with validation: recall per class and the confusion "
    "matrix. Up to 256 classes are kept."
)

_CURVES_PX = 150
"""Height from which on curves can be distinguished."""

_BESIDE_PX, _LEAST_PX = 640, 300
"""Width from which on the matrix is beside the curves, and the smallest one, in pixels."""


class ClassPanel(QFrame):
    """Shows one run; its files are read in another thread."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._run: RunFolder | None = None
        self._names: list[str] = []
        self._table: Table = np.zeros((0, 0))
        self._background = Background(self, max_threads=1)
        self._is_reading = False
        self._is_dirty = False
        self._is_matrix_read = False
        self._is_following = True
        self.empty = plain_label(NOTHING_YET, role="dim", wrap=True)
        self.plot = ClassAccuracyPlot(theme)
        self.marks = ClassMarks(theme)
        self.map = ConfusionMatrix(theme)
        self.map.setMinimumSize(150, 150)
        # What it would like to have makes the page of the run higher than the window.
        self.map.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.plot.setMinimumHeight(_CURVES_PX)
        self.hover = ElidedLabel(POINT_AT)
        self.hover.setProperty("role", "dim")
        self.epoch_words = plain_label(role="strong")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Epoch of the confusion matrix")
        tip = "Choose the epoch with the slider, the arrow keys or a click on the curves"
        self.slider.setToolTip(tip)
        self._build()
        self._connect()
        self._show_table(np.zeros((0, 0)))

    def _build(self) -> None:
        left, right = QWidget(), QWidget()
        column(
            plain_label("Recall per class, validation", role="strong"),
            (row((self.plot, 1), self.marks), 1),
            parent=left,
            spacing=4,
        )
        matrix = (row(self.epoch_words, (self.slider, 1)), (self.map, 1), self.hover)
        column(*matrix, parent=right, margins=(8, 0, 0, 0), spacing=4)
        self._parts = QSplitter(Qt.Orientation.Horizontal)
        self._parts.setChildrenCollapsible(False)
        self._parts.setMinimumWidth(_LEAST_PX)  # not that of both parts beside each other
        for index, (part, stretch) in enumerate(((left, 3), (right, 2))):
            self._parts.addWidget(part)
            self._parts.setStretchFactor(index, stretch)
        column(self.empty, (self._parts, 1), parent=self, margins=(12, 8, 12, 8))

    def _connect(self) -> None:
        self.slider.valueChanged.connect(self._on_epoch_changed)
        self.plot.epoch_clicked.connect(self.slider.setValue)
        self.marks.changed.connect(self.plot.set_marked)
        self.map.hovered.connect(lambda words: self.hover.set_full_text(words or POINT_AT))

    @property
    def epoch(self) -> int:
        """The epoch whose matrix is shown, from 1."""
        return self.slider.value()

    def set_run(self, run: RunFolder | None, class_names: Sequence[str]) -> None:
        """Shows another run; or the same once the names of its classes are known."""
        is_same = run is not None and self._run is not None and run.path == self._run.path
        self._run = run
        self._names = list(class_names)
        if not is_same:
            self._is_following = True
            self._is_reading = False
            self.marks.clear()
            self._show_table(np.zeros((0, 0)))
        self.grow()

    def grow(self) -> None:
        """Reads another epoch, where there may be one: now, or as soon as the panel can be seen."""
        self._is_dirty = True
        if self.isVisible():
            self._read()

    def close_background(self) -> None:
        """Waits for what still reads; called before the application ends."""
        self._background.close()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the matrix is below the curves."""
        super().resizeEvent(event)
        is_wide = self.width() >= _BESIDE_PX
        wanted = Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical
        if self._parts.orientation() != wanted:
            self._parts.setOrientation(wanted)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_dirty:
            self._read()

    # reading -----------------------------------------------------------------------------

    def _read(self) -> None:
        run = self._run
        if run is None or self._is_reading:
            return
        self._is_reading, self._is_dirty = True, False

        def done(table: Table) -> None:
            if run is self._run:
                self._is_reading = False
                self._show_table(table)
                if self._is_dirty:
                    self._read()

        failed = partial(self._on_failed, run)
        self._background.run(lambda: read_class_accuracy(run), done, failed)

    def _on_failed(self, run: RunFolder, error: WorkbenchError) -> None:
        if run is self._run:
            self._is_reading = self._is_matrix_read = False
            self.empty.setText(str(error))

    def _show_table(self, table: Table) -> None:
        epochs, classes = table.shape
        has_some = epochs > 0 and classes > 0
        self.empty.setVisible(not has_some)
        self._parts.setVisible(has_some)
        self._table = table
        self.plot.set_table(table)
        if not has_some:
            self.empty.setText(NOTHING_YET)
            return
        self._names += [f"class {i}" for i in range(len(self._names), classes)]
        self.marks.set_classes(self._names[:classes], table)
        with QSignalBlocker(self.slider):
            self.slider.setRange(1, epochs)
            self.slider.setValue(epochs if self._is_following else self.epoch)
        self._on_epoch_changed(self.epoch)

    def _on_epoch_changed(self, epoch: int) -> None:
        epochs = len(self._table)
        if epochs == 0:
            return
        self._is_following = epoch == epochs
        self.epoch_words.setText(f"Epoch {epoch:,} of {epochs:,}")
        self.plot.set_epoch(epoch)
        self.marks.set_values(self._table[min(epoch, epochs) - 1])
        self._read_matrix()

    def _read_matrix(self) -> None:
        """Reads the chosen epoch's matrix; one at a time, however fast the slider moves."""
        run, epoch = self._run, self.epoch
        if run is None or self._is_matrix_read:
            return
        self._is_matrix_read = True

        def done(matrix: Table | None) -> None:
            self._is_matrix_read = False
            if run is not self._run:
                return
            if matrix is not None:
                self.map.set_matrix(self._names[: len(matrix)], Confusion.of_dense(matrix))
            if epoch != self.epoch:
                self._read_matrix()

        failed = partial(self._on_failed, run)
        self._background.run(lambda: read_confusion(run, epoch), done, failed)


# run pages -----------------------------------------------------------------------------------


class RunPages(QWidget):
    """Curves and classes of one follower. The classes' page is made when it is first shown."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._follower: RunFollower | None = None
        self.plots = RunPlots(theme)
        self.classes: ClassPanel | None = None
        self.switch = SegmentedSwitch((("curves", "Curves"), ("classes", "Classes")))
        self.switch.setProperty("compact", True)
        self.switch.set_current("curves")
        self.switch.chosen.connect(self.show_page)
        policy = self.plots.smoothing.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the switch stays as wide as it is
        self.plots.smoothing.setSizePolicy(policy)
        line = row(self.switch, (self.plots.smoothing, 1), spacing=16)
        # Not a stack, in which each page takes the room that the highest one needs.
        self._pages = column((self.plots, 1))
        column(line, (self._pages, 1), parent=self, spacing=8)

    def show_page(self, key: str) -> None:
        """Brings "curves" or "classes" to the front."""
        self.switch.set_current(key)
        if key == "classes" and self.classes is None:
            self.classes = ClassPanel(self._theme)
            add_to(self._pages, (self.classes, 1))
            self._show_classes()
        self.plots.setVisible(key == "curves")
        if self.classes is not None:
            self.classes.setVisible(key == "classes")
        self.plots.smoothing.setVisible(key == "curves")

    def set_follower(self, follower: RunFollower | None, title: str) -> None:
        """Shows another run."""
        self._follower = follower
        self.plots.set_history(follower.history if follower is not None else None, title)
        self._show_classes()

    def events_arrived(self, events: list[RunEvent]) -> None:
        """The run has logged more events."""
        if self.classes is None:
            return
        if any(isinstance(event, DataReady) for event in events):
            self._show_classes()
        elif any(isinstance(event, EpochFinished) for event in events):
            self.classes.grow()

    def close_background(self) -> None:
        """Waits for what still reads or writes; called before the application ends."""
        self.plots.close_background()
        if self.classes is not None:
            self.classes.close_background()

    def _show_classes(self) -> None:
        if self.classes is None:
            return
        if self._follower is None:
            self.classes.set_run(None, [])
        else:
            self.classes.set_run(self._follower.run, self._follower.history.class_names)
