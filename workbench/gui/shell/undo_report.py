"""What Undo and Redo have done, in words, where it cannot be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QUndoStack


class UndoReport(QObject):
    """Follows the actions "undo" and "redo"; `said` carries a sentence for the status line.

    Args:
        stack: What they go back and forth in.
        actions: The window's, by key.
        is_seen: Whether the view that is shown shows a step by itself.
        parent: Its owner.
    """

    said = Signal(str)

    def __init__(
        self,
        stack: QUndoStack,
        actions: Mapping[str, QAction],
        is_seen: Callable[[], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._is_seen = is_seen
        # A step that was undone is the next one to be redone, and the other way round.
        actions["undo"].triggered.connect(lambda: self._report("Undid", stack.redoText()))
        actions["redo"].triggered.connect(lambda: self._report("Redid", stack.undoText()))

    def _report(self, done: str, step: str) -> None:
        if step and not self._is_seen():
            self.said.emit(f"{done}: {step.replace('&&', '&')}")
