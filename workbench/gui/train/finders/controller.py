"""Finding a number of the recipe: one search at a time, its result an undoable edit."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.gui.common.context import WindowContext
from workbench.gui.train.finders.dialogs import FindBatchSizeDialog, FindLearningRateDialog
from workbench.gui.train.finders.finder import FinderDialog


def _is_wanted(dialog: FinderDialog, kind: type[FinderDialog]) -> bool:
    return not dialog.is_outdated and (dialog.is_searching or isinstance(dialog, kind))


class FinderController(QObject):
    """Opens the finders over a window; `said` what was changed, or why nothing can be tried."""

    said = Signal(str)

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._window = window
        self.dialog: FinderDialog | None = None

    def find(self, key: str) -> None:
        """Begins to find "learning_rate" or "batch_size". A search that goes on, or what it has
        found, is brought up while it is that of the project as it is now.
        """
        make = FindLearningRateDialog if key == "learning_rate" else FindBatchSizeDialog
        dialog = self.dialog
        if dialog is not None and _is_wanted(dialog, make):
            dialog.raise_()
            dialog.activateWindow()
            return
        if reason := self._context.document.analysis.reason:
            self.said.emit(reason)
            return
        if dialog is not None:
            dialog.close()
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
