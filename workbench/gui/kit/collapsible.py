"""A part of a form that opens and closes under its heading."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row


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
        self.body = column(parent=self._inner, margins=(0, 2, 0, 6), spacing=8)
        column(row(self.head, STRETCH, self._note), self._inner, parent=self, spacing=2)
        self.head.setChecked(is_open)
        self._show(is_open)
        self.head.toggled.connect(self._on_toggled)

    @property
    def is_open(self) -> bool:
        """Whether the body shows."""
        return self.head.isChecked()

    def set_note(self, text: str) -> None:
        """Shows what the body holds in a word, beside the heading."""
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
