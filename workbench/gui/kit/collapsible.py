"""A part of a form that opens and closes under its heading."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from workbench.gui.kit.labels import plain_label


class CollapsibleSection(QWidget):
    """A heading with an arrow, and the body below it while it is open.

    Signals:
        opening: It opens; what is put into the body now is seen at once.

    Attributes:
        head: The heading; its text stays, `open_title` replaces it while open.
        body: Column for the widgets inside.
    """

    opening = Signal()

    def __init__(self, title: str, *, open_title: str = "", is_open: bool = False) -> None:
        super().__init__()
        self._titles = (title, open_title or title)
        self.head = QToolButton()
        self.head.setProperty("role", "fold")
        self.head.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.head.setCheckable(True)
        self.head.setAccessibleName(title)
        self._note = plain_label(role="dim")
        self._inner = QWidget()
        self.body = QVBoxLayout(self._inner)
        self.body.setContentsMargins(0, 2, 0, 6)
        self.body.setSpacing(8)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.head)
        row.addStretch(1)
        row.addWidget(self._note)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(row)
        column.addWidget(self._inner)
        self.head.setChecked(is_open)
        self._show(is_open)
        self.head.toggled.connect(self._on_toggled)

    @property
    def is_open(self) -> bool:
        """Whether the body shows."""
        return self.head.isChecked()

    def set_note(self, text: str) -> None:
        """What the body holds in a word, beside the heading."""
        self._note.setText(text)
        self.head.setAccessibleDescription(text)

    def note(self) -> str:
        """The word beside the heading."""
        return self._note.text()

    def _on_toggled(self, is_open: bool) -> None:  # noqa: FBT001 - Qt's signal
        if is_open:
            self.opening.emit()
        self._show(is_open)

    def _show(self, is_open: bool) -> None:  # noqa: FBT001
        self._inner.setVisible(is_open)
        arrow = Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow
        self.head.setArrowType(arrow)
        self.head.setText(self._titles[is_open])
