"""Asks for what a project still needs from elsewhere: a folder, a file, pretrained weights."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from workbench.backbones import all_backbones
from workbench.core.checks.problems import ANOTHER_SOURCE, Fix
from workbench.core.params import PathParam, PathsParam
from workbench.core.projects.project import Choice
from workbench.gui.common.context import WindowContext
from workbench.gui.common.download_dialog import DownloadWeightsDialog
from workbench.gui.kit.file_dialogs import ask_file, ask_folder, ask_folders

KIND = "data"
"""Dialogs for data sets begin in one folder."""


class DataChooser(QObject):
    """Does what a fix of the document cannot do by itself. `chosen` follows a choice."""

    chosen = Signal()

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._document = context.document
        self._datasets = context.datasets
        self._window = window
        # Queued: a dialog must not open in the middle of the click that asked for it.
        queued = Qt.ConnectionType.QueuedConnection
        self._document.answer_wanted.connect(self._answer, queued)

    def _answer(self, fix: Fix) -> None:
        if fix.backbone:
            dialog = DownloadWeightsDialog(
                all_backbones()[fix.backbone], self._context.measurer, self._window
            )
            dialog.fetched.connect(self._document.look_for_data)
            dialog.open()
        else:
            self.ask(fix.data_param)

    def ask(self, key: str) -> None:
        """Asks for a parameter of the data set by its key; another data set is chosen where the
        sources are listed, which `chosen` leads to.
        """
        if key == ANOTHER_SOURCE:
            self.chosen.emit()
            return
        choice = self._document.project.dataset
        spec = self._datasets.get(choice.key)
        params = spec.params if spec is not None else ()
        param = next((param for param in params if param.key == key), None)
        if param is None:
            return
        path: str | tuple[str, ...]
        title = f"Choose {param.title.lower()}"
        if isinstance(param, PathsParam):
            path = tuple(ask_folders(self._window, title, kind=KIND))
        elif not isinstance(param, PathParam):
            return
        elif param.is_folder:
            path = ask_folder(self._window, title, kind=KIND)
        else:
            filters = f"{param.title} ({' '.join(param.patterns)});;All files (*)"
            path = ask_file(self._window, title, filters, kind=KIND)
        if path:
            self._document.set_dataset(Choice(choice.key, {**choice.params, key: path}))
            self.chosen.emit()
