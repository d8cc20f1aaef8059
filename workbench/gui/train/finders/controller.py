"""Finding a number of the recipe: one search at a time, its result an undoable edit."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.gui.common.context import WindowContext
from workbench.gui.train.finders.dialogs import FindBatchSizeDialog, FindLearningRateDialog
from workbench.gui.train.finders.finder import FinderDialog


class FinderController(QObject):
    """Opens the finders over a window; `said` what was changed, or why nothing can be tried."""

    said = Signal(str)

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._window = window
        self.dialog: FinderDialog | None = None

    def find(self, key: str) -> None:
        """Begins to find "learning_rate" or "batch_size"; an open search is brought up."""
        if self.dialog is not None:
            self.dialog.raise_()
            self.dialog.activateWindow()
            return
        if reason := self._context.document.analysis.reason:
            self.said.emit(reason)
            return
        make = FindLearningRateDialog if key == "learning_rate" else FindBatchSizeDialog
        dialog = self.dialog = make(self._context, self._window)
        dialog.chosen.connect(self._on_chosen)
        dialog.finished.connect(self._on_finished)
        dialog.show()

    def _on_chosen(self, values: dict[str, object]) -> None:
        self._context.document.set_recipe(**values)
        words = [p.title + " " + p.show(values[p.key]) for p in RECIPE_PARAMS if p.key in values]
        self.said.emit(f"Training settings changed: {', '.join(words)}. Undo reverts this.")

    def _on_finished(self, _result: int) -> None:
        self.dialog = None
