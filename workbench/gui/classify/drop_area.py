"""The dashed area that says where pictures come from; it fills what is left."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label


class DropArea(QFrame):
    """Words and buttons. The drop itself is taken by the window, wherever it happens."""

    open_wanted = Signal()
    paste_wanted = Signal()
    test_wanted = Signal()
    folder_wanted = Signal()
    cancel_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "drop")
        title = plain_label("Drop pictures or a folder here", role="title")
        text = plain_label(
            "or paste one (Ctrl+V), open a file, or pick from the test set", role="dim"
        )
        self.open = button("Open…")
        self.paste = button("Paste")
        self.test = button("Test set")
        self.folder = button("Folder to CSV…")
        self.cancel = button("Cancel")
        self.cancel.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addStretch(1)
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for part in (self.open, self.paste, self.test, self.folder, self.cancel):
            row.addWidget(part)
        row.addStretch(1)
        column.addSpacing(4)
        column.addLayout(row)
        column.addStretch(1)
        self.open.clicked.connect(self.open_wanted)
        self.paste.clicked.connect(self.paste_wanted)
        self.test.clicked.connect(self.test_wanted)
        self.folder.clicked.connect(self.folder_wanted)
        self.cancel.clicked.connect(self.cancel_wanted)

    def set_busy(self, *, is_busy: bool) -> None:
        """A folder is being classified: it can be canceled, not started again."""
        self.folder.setVisible(not is_busy)
        self.cancel.setVisible(is_busy)
