"""Where a run's time goes: one bar, its shares, and the next action in words."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.core.format import duration
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.theme import Theme
from workbench.protocol.events import TimeSpent
from workbench.runs.log.event_text import TIME_PARTS, time_shares

BAR_PX = 12
GAP_PX = 2

PART_COLORS = {
    "compute": "#3b82f6",
    "input": "#0d9488",
    "host": "#d97706",
    "compile": "#8b5cf6",
    "validation": "#64748b",
    "saving": "#db2777",
}
"""Colour of each part, the same in both themes; the words beside it say the same."""

Shares = list[tuple[str, float, float]]


class StackedBar(QWidget):
    """Parts of a whole side by side; an empty track while there is nothing."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.shares: Shares = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_shares(self, shares: Shares) -> None:
        """Shows (name, seconds, share 0..1) triples."""
        self.shares = shares
        self.setAccessibleName(", ".join(f"{name} {part:.0%}" for name, _, part in shares))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, BAR_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, BAR_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if not self.shares:
            painter.setBrush(QColor(self._theme.colors.hover))
            painter.drawRoundedRect(QRectF(0, 0, self.width(), BAR_PX), 4, 4)
            return
        x = 0.0
        for name, _, part in self.shares:
            width = self.width() * part
            painter.setBrush(QColor(PART_COLORS[name]))
            painter.drawRoundedRect(QRectF(x, 0, max(width - GAP_PX, 1.5), BAR_PX), 2, 2)
            x += width


class TimeSpentBox(QScrollArea):
    """Shows the latest TimeSpent of a run."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(220)
        self._spent: TimeSpent | None = None
        self.bar = StackedBar(theme)
        self.advice = plain_label(wrap=True)
        self.hint = plain_label(
            "The time breakdown appears here during training.", role="dim", wrap=True
        )
        self._rows: dict[str, tuple[QLabel, QLabel, QLabel]] = {}
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        for row, (name, _, what) in enumerate(TIME_PARTS):
            self._add_row(row, name, what)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(14, 10, 14, 12)
        column.setSpacing(8)
        column.addWidget(self.bar)
        column.addWidget(self.advice)
        column.addLayout(self._grid)
        column.addWidget(self.hint)
        column.addStretch(1)
        self.setWidget(page)
        self.show_time(None)

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
        advice = spent.advice if spent is not None else ""
        self.advice.setText(advice)
        self.advice.setVisible(bool(advice))

    def words(self) -> dict[str, str]:
        """What is shown, by part."""
        return {
            name: value.text() for name, (_, _, value) in self._rows.items() if value.text()
            and not value.isHidden()
        }  # fmt: skip

    def _add_row(self, row: int, name: str, what: str) -> None:
        dot = QLabel()
        dot.setFixedSize(9, 9)
        dot.setStyleSheet(f"background: {PART_COLORS[name]}; border-radius: 2px;")
        title = plain_label(what, role="dim")
        value = plain_label(role="value")
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        title.setToolTip(plain_tip(name))
        for column, label in enumerate((dot, title, value)):
            self._grid.addWidget(label, row, column)
        self._rows[name] = (dot, title, value)
