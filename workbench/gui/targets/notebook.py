"""Training where no desktop reaches: a notebook goes out, its results come back."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.client.question import Handlers
from workbench.core.projects.project_file import PROJECT_SUFFIX, project_text
from workbench.errors import WorkbenchError
from workbench.exports import project_exports
from workbench.gui.common.context import WindowContext
from workbench.gui.common.drops import RESULT_NAME
from workbench.gui.kit.messages import show_error, show_notice
from workbench.gui.kit.save_path import ask_save_path
from workbench.protocol.messages import Done, ExportProject

_RESULT_FILTER = "Notebook results (*.zip);;All files (*)"
_NEXT_STEPS = (
    f"Open it in Colab or Kaggle and choose a TPU there. {{data}}Run all cells, download "
    f"{RESULT_NAME}.zip, and choose File > Import notebook results… here."
)
_SET_DATA = "Upload your images and set DATA. "


class NotebookController(QObject):
    """What "Train on Colab or Kaggle…" and "Import notebook results…" do.

    Signals:
        said: A sentence about what goes on.
        blocked: A notebook was requested while errors prevent training.
    """

    said = Signal(str)
    blocked = Signal()

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._document = context.document
        self._datasets = context.datasets
        self._weights = context.weights
        self._service = context.service
        self._window = window

    def ask_export(self) -> None:
        """Asks where to write the notebook, and writes it; `blocked` where it could not train."""
        if self._document.analysis.errors:
            self.blocked.emit()
            return
        specs = list(project_exports().values())
        filters = {f"{spec.title} (*{spec.suffix})": spec for spec in specs}
        path, chosen = ask_save_path(
            self._window, "Train on Colab or Kaggle", str(self._start()), ";;".join(filters)
        )
        if not path:
            return
        spec = filters.get(chosen, specs[0])
        self.said.emit(f"Writing {Path(path).name}…")
        project = project_text(self._document.project)
        request = ExportProject(id=0, project=project, format=spec.key, path=path)
        handlers = Handlers(
            on_done=self._on_written,
            on_failed=self._on_failed,
            on_progress=lambda progress: self.said.emit(progress.text),
        )
        self._service.send(request, handlers)

    def _start(self) -> Path:
        """Beside the project, named like it."""
        path = self._document.path
        if path:
            return Path(path).with_name(Path(path).name.removesuffix(PROJECT_SUFFIX))
        return Path.home() / (self._document.project.title or "network")

    def _on_written(self, answer: Done) -> None:
        self.said.emit(answer.text)
        dataset = self._datasets.get(self._document.project.dataset.key)
        brings_data = dataset is None or not dataset.program
        more = _NEXT_STEPS.format(data=_SET_DATA if brings_data else "")
        show_notice(self._window, f"Wrote {Path(answer.path).name}.", more)

    def ask_result(self) -> None:
        """Lets the user choose what a notebook has left, and makes a run of it."""
        path, _ = QFileDialog.getOpenFileName(
            self._window, "Import notebook results", str(Path.home()), _RESULT_FILTER
        )
        if path:
            self._weights.load(path)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.said.emit("")
        show_error(self._window, error)
