"""How each class is learned: its recall over the epochs, and what was taken for what after
the chosen epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QSlider, QSplitter, QWidget

from workbench.client.background import Background
from workbench.core.confusion import Confusion
from workbench.errors import WorkbenchError
from workbench.gui.common.confusion_matrix import POINT_AT, ConfusionMatrix
from workbench.gui.kit.labels import ElidedLabel, plain_label
from workbench.gui.kit.layout import column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.train.class_marks import ClassMarks
from workbench.gui.train.plots.class_plot import ClassAccuracyPlot
from workbench.runs.folder import RunFolder
from workbench.runs.log.confusion_history import read_class_accuracy, read_confusion

Table = np.ndarray[Any, np.dtype[Any]]

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
        for index, (part, share) in enumerate(((left, 3), (right, 2))):
            self._parts.addWidget(part)
            self._parts.setStretchFactor(index, share)
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
