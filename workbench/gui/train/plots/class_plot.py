"""The recall of each class over the epochs: a faint line a class, some of them marked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor

from workbench.gui.kit.theme import Theme
from workbench.gui.plots.axes import PlotAxes
from workbench.gui.plots.x_scale import X_AXES

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
