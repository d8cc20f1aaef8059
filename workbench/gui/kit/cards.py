"""Framed boxes: cards that can be clicked, hints, problems; and facts in figures and rows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSizePolicy, QWidget

from workbench.gui.kit.fonts import ui_font
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column


class Card(QFrame):
    """A framed box that acts as one large button: mouse, Enter or Space."""

    clicked = Signal()

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setProperty("clickable", True)
        self.setAccessibleName(title)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.body = column(parent=self, margins=1, spacing=0)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        is_inside = self.rect().contains(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and is_inside:
            self.clicked.emit()
            event.accept()
            return
        super().mouseReleaseEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            self.clicked.emit()
            return
        super().keyPressEvent(event)


class Box(QFrame):
    """A framed box with a column of widgets; roles: card, hint, problem, notice."""

    def __init__(self, role: str = "card", margin_px: int = 12, spacing_px: int = 4) -> None:
        super().__init__()
        self.setProperty("role", role)
        margins = (margin_px, margin_px - 2, margin_px, margin_px - 2)
        self.column = column(parent=self, margins=margins, spacing=spacing_px)


class TitledBox(Box):
    """A card with a heading: a panel of a view."""

    def __init__(self, title: str) -> None:
        super().__init__("card", 16, 8)
        self.column.setContentsMargins(16, 12, 16, 12)
        self.column.addWidget(plain_label(title, role="heading"))


class TextBox(Box):
    """A box with a bold first line and a text below it."""

    def __init__(self, role: str = "hint", title: str = "", text: str = "") -> None:
        super().__init__(role)
        self.title = plain_label(title, role="strong", wrap=True)
        self.text = plain_label(text, role="dim" if role == "hint" else "text", wrap=True)
        self.column.addWidget(self.title)
        self.column.addWidget(self.text)
        self.title.setVisible(bool(title))  # in its place: else it is a window of its own


class Figure(QWidget):
    """A small heading over a number that changes."""

    def __init__(self, heading: str, width_px: int = 0) -> None:
        super().__init__()
        self.setMinimumWidth(width_px)
        self.value = plain_label("–", role="value")
        self.value.setFont(ui_font(17, weight=600, tabular=True))
        self.heading = plain_label(heading, role="heading")
        column(self.heading, self.value, STRETCH, parent=self, spacing=2)

    def keep_room_for(self, text: str) -> None:
        """Reserves the width of this value."""
        self.value.setMinimumWidth(self.value.fontMetrics().horizontalAdvance(text))


class FactRows(QWidget):
    """Rows of a dim name at the left and a bold value at the right."""

    def __init__(self, facts: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, QLabel]] = []
        self.set_facts(facts)

    def set_facts(self, facts: Iterable[tuple[str, str]]) -> None:
        """Shows these (name, value) pairs; rows are kept and reused."""
        shown = list(facts)
        while len(self._rows) < len(shown):
            self._add_row()
        for row, fact in zip_longest(self._rows, shown):
            for label, text in zip(row, fact or ("", ""), strict=True):
                label.setVisible(fact is not None)
                label.setText(text)

    def facts(self) -> dict[str, str]:
        """What is shown, by name."""
        return {name.text(): value.text() for name, value in self._rows if not name.isHidden()}

    def _add_row(self) -> None:
        name = plain_label(role="dim", parent=self)
        value = plain_label(role="value", parent=self)
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        value.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row = len(self._rows)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1)
        self._rows.append((name, value))
