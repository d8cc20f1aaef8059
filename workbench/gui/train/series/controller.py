"""Opens the dialogs of series: one of a kind over a window."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QWidget

from workbench.gui.common.context import WindowContext
from workbench.gui.train.series.cross_validation import CrossValidationDialog
from workbench.gui.train.series.sweep_dialog import SweepDialog

_KINDS: dict[str, type[CrossValidationDialog | SweepDialog]] = {
    "cross_validation": CrossValidationDialog,
    "sweep": SweepDialog,
}


class SeriesController(QObject):
    """Shows a dialog, the one that is open where there is one.

    Args:
        context: The parts that all views work with.
        view: The view, in whose window the dialogs are.
    """

    def __init__(self, context: WindowContext, view: QWidget) -> None:
        super().__init__(view)
        self._context = context
        self._view = view

    def show(self, key: str) -> QDialog:
        """Shows the dialog of "cross_validation" or "sweep"."""
        kind, window = _KINDS[key], self._view.window()
        found = [each for each in window.findChildren(kind) if each.isVisible()]
        dialog: QDialog = found[0] if found else kind(self._context, window)
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        return dialog
