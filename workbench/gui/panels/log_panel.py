"""What a run said, with times; and what its process printed. Always plain text."""

from __future__ import annotations

import time
from collections.abc import Iterable

from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout

from workbench.gui.run_words import event_words
from workbench.gui.theme import Theme
from workbench.gui.widgets.buttons import IconButton
from workbench.gui.widgets.labels import plain_label
from workbench.protocol.messages import PhaseChanged, RunEvent

MAX_LINES = 5_000


def fixed_font(px: int = 12) -> QFont:
    """The system's font with letters of equal width."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(px)
    return font


class LogPanel(QFrame):
    """Lines with their times; follows the end unless the user has scrolled up."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._last_phase = ""
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        self.text.setMaximumBlockCount(MAX_LINES)
        self.text.setFont(fixed_font())
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setProperty("role", "log")
        self.text.setPlaceholderText("What the trainer says appears here.")
        self.text.setAccessibleName("Log of the run")
        self.copy = IconButton(theme, "copy", "Copy the log", size_px=14)
        self.copy.clicked.connect(self._on_copy)
        top = QHBoxLayout()
        top.addWidget(plain_label("Log", role="strong"), 1)
        top.addWidget(self.copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 6, 6)
        column.setSpacing(2)
        column.addLayout(top)
        column.addWidget(self.text, 1)

    def clear(self) -> None:
        """Empties the log, for another run."""
        self.text.clear()

    def add_events(self, events: Iterable[RunEvent], epochs: int = 0) -> None:
        """Adds a line for each event that has words."""
        lines = []
        for event in events:
            words = event_words(event, epochs)
            is_repeated = isinstance(event, PhaseChanged) and words == self._last_phase
            self._last_phase = words if isinstance(event, PhaseChanged) else ""
            if words and not is_repeated:
                stamp = time.strftime("%H:%M:%S", time.localtime(event.time))
                lines.append(f"{stamp}  " + words.replace("\n", "\n          "))
        if lines:
            self.add_text("\n".join(lines))

    def add_text(self, text: str) -> None:
        """Adds lines as they are."""
        self.text.appendPlainText(text)

    def lines(self) -> list[str]:
        """What is shown."""
        return self.text.toPlainText().splitlines()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())
