"""The top of a dialog: what it is for, and the way to the help page that tells more."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label


class DialogHead(QWidget):
    """A title, a link to its help page, and a few sentences.

    Args:
        title: The title.
        words: The sentences.
        page: Key of the help page.

    Signals:
        help_asked: The link was pressed; key of the page.
    """

    help_asked = Signal(str)

    def __init__(self, title: str, words: str, page: str) -> None:
        super().__init__()
        self.learn = button("Learn more", role="link")
        self.learn.setAutoDefault(False)
        self.learn.clicked.connect(lambda: self.help_asked.emit(page))
        row = QHBoxLayout()
        row.addWidget(plain_label(title, role="title"))
        row.addStretch(1)
        row.addWidget(self.learn)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(row)
        column.addWidget(plain_label(words, role="dim", wrap=True))
