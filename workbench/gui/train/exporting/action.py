"""Exporting a trained run: the one way for the File menu and the list of runs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.service_process import ServiceProcess
from workbench.gui.kit.messages import ask_choice
from workbench.gui.kit.theme import Theme
from workbench.gui.train.exporting.dialog import ExportDialog


class ExportAction(QObject):
    """Opens the dialog that exports a run's model, one for each run.

    Signals:
        said: What was exported.
        help_asked: Key of a help page.
    """

    said = Signal(str)
    help_asked = Signal(str)

    def __init__(self, theme: Theme, worker: ServiceProcess, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._worker = worker
        self._window = window

    def ask(self, run: Path, title: str, key: str = "") -> ExportDialog:
        """Opens the dialog of a run, or brings it up; with a format, where that was chosen."""
        dialog = self._open(run)
        if dialog is None:
            dialog = ExportDialog(self._theme, self._worker, run, title, self._window.window())
            dialog.said.connect(self.said)
            dialog.head.help_asked.connect(self.help_asked)
            dialog.show()
        else:
            dialog.raise_()
            dialog.activateWindow()
        if key:
            dialog.formats.select(key)
        return dialog

    def may_close(self) -> bool:
        """Asks what becomes of an export that is under way while the window closes."""
        if not any(dialog.is_exporting for dialog in self._dialogs()):
            return True
        words = "Closing Workbench cancels the export; nothing is written then."
        choices = ("Close Workbench", "Keep exporting")
        return (
            ask_choice(self._window, "A model is being exported.", words, choices, default=1) == 0
        )

    def _open(self, run: Path) -> ExportDialog | None:
        return next(
            (each for each in self._dialogs() if each.run == run and each.isVisible()), None
        )

    def _dialogs(self) -> list[ExportDialog]:
        direct = Qt.FindChildOption.FindDirectChildrenOnly
        return self._window.window().findChildren(ExportDialog, options=direct)
