"""The top of a dialog: what it is for, and a link to its help page."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row


class DialogHead(QWidget):
    """A title, a few sentences, and a link that opens the help page with a key: `page`."""

    help_asked = Signal(str)

    def __init__(self, title: str, words: str, page: str) -> None:
        super().__init__()
        self.learn = button("Learn more", role="link")
        self.learn.setAutoDefault(False)
        self.learn.clicked.connect(lambda: self.help_asked.emit(page))
        top = row(plain_label(title, role="title"), STRETCH, self.learn)
        column(top, plain_label(words, role="dim", wrap=True), parent=self, spacing=12)
