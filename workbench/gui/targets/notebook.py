"""A project as a program: a notebook whose results come back, or a script of plain Keras."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.question import Handlers
from workbench.core.projects.project_file import PROJECT_SUFFIX, project_text
from workbench.core.specs import ExportSpec
from workbench.errors import WorkbenchError
from workbench.exports import training_exports, untrained_exports
from workbench.gui.common.context import WindowContext
from workbench.gui.common.drops import RESULT_NAME
from workbench.gui.kit.file_dialogs import ask_file
from workbench.gui.kit.messages import show_error, show_notice
from workbench.gui.kit.save_path import ask_save_path
from workbench.protocol.export import ExportProject
from workbench.protocol.messages import Done

_RESULT_FILTER = "Notebook results (*.zip);;All files (*)"
_NEXT_STEPS = (
    f"Open it in Colab or Kaggle, choose a TPU and run all cells. Then download {RESULT_NAME}.zip, "
    "and choose File > Import notebook results… here."
)


class NotebookController(QObject):
    """What "Train on Colab or Kaggle…", "Import notebook results…" and "Export network as Python…"
    do.

    Signals:
        said: A sentence about what goes on.
        blocked: A notebook was requested while errors prevent training.
    """

    said = Signal(str)
    blocked = Signal()

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._document = context.document
        self._weights = context.weights
        self._service = context.measurer  # packing the images takes its time
        self._window = window

    def ask_export(self) -> None:
        """Asks where to write the notebook, and writes it; `blocked` where it could not train."""
        specs = list(training_exports().values())
        self._ask(specs, "Train on Colab or Kaggle", "notebook_file", self._on_notebook_written)

    def ask_network(self) -> None:
        """Asks where to write the network, trained or not, and writes it without weights; `blocked`
        where it has errors.
        """
        specs = list(untrained_exports().values())
        self._ask(
            specs,
            "Export the network, without weights",
            "export",
            lambda answer: self.said.emit(answer.text),
        )

    def _ask(
        self, specs: list[ExportSpec], title: str, kind: str, on_done: Callable[[Done], None]
    ) -> None:
        if self._document.analysis.network_errors:
            self.blocked.emit()
            return
        filters = {f"{spec.title} (*{spec.suffix})": spec for spec in specs}
        offered = ";;".join(filters)
        path, chosen = ask_save_path(self._window, title, self._name(), offered, kind=kind)
        if not path:
            return
        spec = filters.get(chosen, specs[0])
        self.said.emit(f"Writing {Path(path).name}…")
        project = project_text(self._document.project)
        request = ExportProject(id=0, project=project, format=spec.key, path=path)
        handlers = Handlers(
            on_done=on_done,
            on_failed=self._on_failed,
            on_progress=lambda progress: self.said.emit(progress.text),
        )
        self._service.send(request, handlers)

    def _name(self) -> str:
        """Named like the project."""
        path = self._document.path
        name = path.name.removesuffix(PROJECT_SUFFIX) if path else self._document.project.title
        return name or "network"

    def _on_notebook_written(self, answer: Done) -> None:
        self.said.emit(answer.text)
        steps = answer.text.removeprefix(f"Wrote {answer.path}.").strip()
        show_notice(self._window, f"Wrote {Path(answer.path).name}.", f"{steps}\n\n{_NEXT_STEPS}")

    def ask_result(self) -> None:
        """Lets the user choose what a notebook has left, and makes a run of it."""
        title = "Import notebook results"
        path = ask_file(self._window, title, _RESULT_FILTER, kind="notebook_file")
        if path:
            self._weights.load(path)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.said.emit("")
        show_error(self._window, error)
