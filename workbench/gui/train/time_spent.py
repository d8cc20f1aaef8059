"""Box with what a run's time is spent on: one bar, its shares, and the next action in words."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QWidget

from workbench.core.format import duration
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import PaintedWidget
from workbench.gui.train.state import TrainState
from workbench.protocol.events import TimeSpent
from workbench.runs.log.texts import AFTER, TIME_PARTS, TimePart, time_shares

BAR_PX = 12
MOST_PX = 300
"""All rows, with what follows the training and two lines of advice."""

PART_COLORS = {
    "compute": "#3b82f6",
    "input": "#0d9488",
    "host": "#d97706",
    "features": "#65a30d",
    "compile": "#8b5cf6",
    "validation": "#64748b",
    "saving": "#db2777",
}
"""Color of each part, the same in both themes; the words beside it say the same."""

Shares = list[tuple[str, float, float]]


class StackedBar(PaintedWidget):
    """Parts of a whole side by side; an empty track while there is nothing."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, QSize(200, BAR_PX), least_px=40)
        self.shares: Shares = []

    def set_shares(self, shares: Shares) -> None:
        """Shows (name, seconds, share 0..1) triples."""
        self.shares = shares
        self.setAccessibleName(", ".join(f"{name} {part:.0%}" for name, _, part in shares))
        self.update()

    def paint(self, painter: QPainter) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        if not self.shares:
            painter.setBrush(QColor(self._theme.colors.hover))
            painter.drawRoundedRect(QRectF(0, 0, self.width(), BAR_PX), 4, 4)
            return
        x = 0.0
        for name, _, part in self.shares:
            width = self.width() * part
            painter.setBrush(QColor(PART_COLORS[name]))
            painter.drawRoundedRect(QRectF(x, 0, max(width - 2, 1.5), BAR_PX), 2, 2)
            x += width


class TimeSpentBox(QScrollArea):
    """Shows the latest TimeSpent of a run."""

    def __init__(self, state: TrainState) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(220)
        self._spent: TimeSpent | None = None
        self.bar = StackedBar(state.context.theme)
        self.advice = plain_label(wrap=True)
        hint = "The time breakdown appears here during training."
        self.hint = plain_label(hint, role="dim", wrap=True)
        self.after = plain_label(role="dim", wrap=True)
        self.after.setToolTip("Calibration, comparison and test: no part of the shares above")
        self._rows: dict[str, tuple[QLabel, QLabel, QLabel]] = {}
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        for row, part in enumerate(TIME_PARTS):
            self._add_row(row, part)
        page = QWidget()
        parts = (self.bar, self._grid, self.after, self.advice, self.hint, STRETCH)
        self._page = column(*parts, parent=page, margins=(14, 10, 14, 12), spacing=8)
        self.setWidget(page)
        self.show_time(None)
        state.time_changed.connect(self.show_time)

    def show_time(self, spent: TimeSpent | None) -> None:
        """Shows where the time went; None: nothing is known yet."""
        if spent is not None and spent == self._spent:
            return
        self._spent = spent
        shares = time_shares(spent) if spent is not None else []
        self.bar.set_shares(shares)
        self.hint.setVisible(not shares)
        by_name = {name: (seconds, part) for name, seconds, part in shares}
        for name, labels in self._rows.items():
            seconds, part = by_name.get(name, (0.0, 0.0))
            for label in labels:
                label.setVisible(name in by_name)
            labels[2].setText("< 1%" if part < 0.005 else f"{part * 100:.0f}%")
            labels[2].setToolTip(duration(seconds))
        after = spent.after_s if spent is not None else 0.0
        self.after.setText(f"{AFTER}: {duration(after)}" if after else "")
        self.after.setVisible(bool(after))
        self.bar.setVisible(bool(shares))
        advice = spent.advice if spent is not None else ""
        self.advice.setText(advice)
        self.advice.setVisible(bool(advice))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lines break elsewhere."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Makes the box as high as what it shows, so that no row is cut: the settings have the
        rest.
        """
        for layout in (self._grid, self._page):  # of rows that were hidden just now
            layout.invalidate()
        width = max(self.viewport().width(), self.minimumWidth())
        height = self._page.totalSizeHint().height()
        if self._page.hasHeightForWidth():  # a label with broken lines is shown
            least = self._page.totalMinimumSize().height()  # the area gives the page no less
            height = max(self._page.totalHeightForWidth(width), least)
        self.setMinimumHeight(min(height, MOST_PX) + 2 * self.frameWidth())
        self.setMaximumHeight(height + 2 * self.frameWidth())

    def _add_row(self, row: int, part: TimePart) -> None:
        dot = QLabel()
        dot.setFixedSize(9, 9)
        dot.setStyleSheet(f"background: {PART_COLORS[part.name]}; border-radius: 2px;")
        title = plain_label(part.title, role="dim")
        value = plain_label(role="value")
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        title.setToolTip(plain_tip(part.meaning))
        for place, label in enumerate((dot, title, value)):
            self._grid.addWidget(label, row, place)
        self._rows[part.name] = (dot, title, value)
