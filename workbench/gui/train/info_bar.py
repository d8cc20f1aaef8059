"""A calm bar: something about a run does not work just now, and what goes on meanwhile."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QLabel

from workbench.core.format import count
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import CheckpointKept

ICON_PX = 18


class InfoBar(QFrame):
    """Says that no checkpoint can be kept; goes away when the next one is kept."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "notice")
        self._theme = theme
        self._icon = QLabel()
        self.words = plain_label(wrap=True)
        self.words.setTextInteractionFlags(self.words.textInteractionFlags().TextSelectableByMouse)
        row(self._icon, (self.words, 1), parent=self, margins=(14, 8, 14, 8), spacing=10)
        theme.changed.connect(self._refresh_icon)
        self._refresh_icon()
        self.hide()

    def show_checkpoint(self, checkpoint: CheckpointKept | None, *, is_over: bool) -> None:
        """Shows the problem of the latest checkpoint, if it has one and is tried again: the run
        is not over.
        """
        problem = checkpoint.problem if checkpoint is not None else None
        if problem is None or checkpoint is None or is_over:
            self.hide()
            return
        self.words.setText(problem_words(problem, checkpoint))
        self.show()

    def _refresh_icon(self) -> None:
        icon = self._theme.icon("warning", self._theme.colors.warning)
        self._icon.setPixmap(icon.pixmap(ICON_PX, ICON_PX))


def problem_words(problem: ErrorParts, checkpoint: CheckpointKept) -> str:
    """What does not work, what can be done, and where the run could be resumed."""
    step = checkpoint.step
    kept = f"Last checkpoint: step {count(step)}." if step else "No checkpoint yet."
    return " ".join(filter(None, (problem.what, problem.fix, kept)))
