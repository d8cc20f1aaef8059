"""Loading weights, the one way for menu, drop, Classify and notebook results."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from workbench.client.question import Handlers
from workbench.client.run_library import RunLibrary
from workbench.client.service_process import ServiceProcess
from workbench.core.projects.project_file import project_text
from workbench.document.project_document import ProjectDocument
from workbench.errors import ClassOrderError, LayerOrderError, WorkbenchError
from workbench.gui.kit.file_dialogs import ask_file
from workbench.protocol.messages import Done
from workbench.protocol.weights import (
    RESULT_ENDING,
    WEIGHTS_ENDINGS,
    LayerOrder,
    LoadFindings,
    LoadWeights,
)

_FILTER = f"Weights ({' '.join(f'*{ending}' for ending in WEIGHTS_ENDINGS)});;All files (*)"


class WeightsLoader(QObject):
    """Makes runs of the project's network with the weights of files.

    Signals:
        said(str): What is being done, and how it ended; "" after a failure.
        loaded(str): Folder of the new run.
        result_loaded(str): Folder of the new run, made of a notebook's result with its curve.
        doubted(str): A run was made, and what may be otherwise in it.
        classes_asked(str, LoadFindings): The file, and the orders that its classes may have.
        layers_asked(str, WorkbenchError): The file, and layers that may be taken in its order.
        failed(WorkbenchError): Why nothing was made.
    """

    said = Signal(str)
    loaded = Signal(str)
    result_loaded = Signal(str)
    doubted = Signal(str)
    classes_asked = Signal(str, object)
    layers_asked = Signal(str, object)
    failed = Signal(object)

    def __init__(
        self,
        document: ProjectDocument,
        library: RunLibrary,
        service: ServiceProcess,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._library = library
        self._service = service

    def ask(self, window: QWidget) -> None:
        """Lets the user choose a weights file and loads it."""
        path = ask_file(window, "Load weights", _FILTER, kind="weights_file")
        if path:
            self.load(path)

    def load(self, path: str, class_order: str = "", layer_order: LayerOrder = "") -> None:
        """Loads a file: weights, an exported model, or what a notebook has left.

        Args:
            path: The file.
            class_order: The order of its classes, where the user has chosen one.
            layer_order: The order of its layers, in the same way.
        """
        name = Path(path).name
        found = LoadFindings()
        is_result = name.lower().endswith(RESULT_ENDING)

        def show(answer: Done) -> None:
            self._show(answer, found, self.result_loaded if is_result else self.loaded)

        def note(answer: LoadFindings) -> None:
            nonlocal found
            found = answer

        self.said.emit(f"Loading {name}…")
        self._service.send(
            LoadWeights(
                id=0,
                project=project_text(self._document.project),
                weights=path,
                class_order=class_order,
                layer_order=layer_order,
            ),
            Handlers(
                on_done=show,
                on_failed=lambda error: self._on_failed(path, error, found),
                on_part=note,
                on_progress=lambda progress: self.said.emit(progress.text),
            ),
        )

    def _show(self, answer: Done, found: LoadFindings, loaded: SignalInstance) -> None:
        self._library.refresh()
        self._library.select(answer.path)
        self.said.emit(answer.text)
        if found.doubts:
            self.doubted.emit(" ".join(found.doubts))
        loaded.emit(answer.path)

    def _on_failed(self, path: str, error: WorkbenchError, found: LoadFindings) -> None:
        self.said.emit("")
        if isinstance(error, ClassOrderError):
            self.classes_asked.emit(path, found)
        elif isinstance(error, LayerOrderError):
            self.layers_asked.emit(path, error)
        else:
            self.failed.emit(error)
