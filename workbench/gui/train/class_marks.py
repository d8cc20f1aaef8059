"""The classes beside their curves: accuracy at the chosen epoch, and which are marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem

from workbench.core.format import share
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme
from workbench.gui.train.plots.overlay import OVERLAY_COLORS

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
