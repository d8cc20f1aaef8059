"""The card beside the crosshair: epoch, step and the exact values there."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from workbench.gui.plots.header import Swatch
from workbench.gui.plots.series import Reading, number_text
from workbench.gui.theme import Theme
from workbench.gui.widgets.labels import plain_label

GAP_PX = 12


class ValueCard(QFrame):
    """A small box over a plot; the mouse passes through it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._plot = parent
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.heading = plain_label(role="dim")
        self.train = plain_label(role="value")
        self.validation = plain_label(role="value")
        self._swatches = (Swatch(theme.colors.train), Swatch(theme.colors.validation))
        grid = QGridLayout(self)
        grid.setContentsMargins(10, 8, 10, 8)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.addWidget(self.heading, 0, 0, 1, 3)
        rows = (("train", self.train), ("validation", self.validation))
        for row, (words, value) in enumerate(rows, start=1):
            grid.addWidget(self._swatches[row - 1], row, 0)
            grid.addWidget(plain_label(words, role="dim"), row, 1)
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(value, row, 2)
        self.hide()

    def set_colors(self, train: str, validation: str) -> None:
        """Follows the theme."""
        self._swatches[0].set_color(train)
        self._swatches[1].set_color(validation)

    def show_reading(self, reading: Reading, at: QPoint) -> None:
        """Shows the values beside `at` (in the parent's pixels), on the side with room."""
        self.heading.setText(f"epoch {reading.epoch:,}, step {reading.step:,}")
        self.train.setText(number_text(reading.train))
        self.validation.setText(number_text(reading.validation))
        self.adjustSize()
        room = self._plot.width()
        fits_right = at.x() + GAP_PX + self.width() <= room
        x = at.x() + GAP_PX if fits_right else at.x() - GAP_PX - self.width()
        self.move(max(0, x), at.y())
        self.show()
        self.raise_()
