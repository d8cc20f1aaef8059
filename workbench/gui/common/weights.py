"""Weights files in the window: loading, downloading, and what is asked about foreign ones."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, Signal, SignalInstance
from PySide6.QtWidgets import QDialog, QRadioButton, QWidget

from workbench.client.run_library import RunLibrary
from workbench.client.service_process import Handlers, Question, ServiceProcess
from workbench.core.format import bytes_text, count, share
from workbench.core.projects.project_file import project_text
from workbench.core.specs import BackboneSpec, DownloadedWeights
from workbench.document.project_document import ProjectDocument
from workbench.downloads.download import host_of
from workbench.errors import ClassOrderError, LayerOrderError, WorkbenchError
from workbench.gui.kit.buttons import button
from workbench.gui.kit.dialogs import ask_choice, ask_file, show_notice
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, Gap, column, row, scroll_area
from workbench.gui.kit.widgets import SteadyBar, WaitLabel
from workbench.protocol.messages import Done, Progress
from workbench.protocol.weights import (
    RESULT_ENDING,
    WEIGHTS_ENDINGS,
    ClassOrder,
    FetchBackbone,
    LayerOrder,
    LoadFindings,
    LoadWeights,
)

# weights loader ------------------------------------------------------------------------------
# Loading weights, the one way for menu, drop, Classify and notebook results.

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


# download dialog -----------------------------------------------------------------------------
# Downloads the weights of a pretrained network, once that was confirmed.

_SIZE_PX_DOWNLOAD_DIALOG = QSize(520, 260)
_PROMILLE = 1000


class DownloadWeightsDialog(QDialog):
    """Says what is downloaded and from where; a click downloads it, Cancel ends that. What has come
    by then is kept.

    Signals:
        fetched: The weights are there.
    """

    fetched = Signal()

    def __init__(
        self, spec: BackboneSpec, worker: ServiceProcess, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Download weights — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.resize(_SIZE_PX_DOWNLOAD_DIALOG)
        self._spec = spec
        self._question = Question(worker)
        self.status = WaitLabel()
        self.bar = SteadyBar()
        self.bar.setRange(0, _PROMILLE)
        self.start = button(f"Download ({_size(spec)})", role="primary")
        self.start.clicked.connect(lambda _=False: self._download())
        self.stop = button("Cancel")
        self.stop.clicked.connect(lambda _=False: self.reject())
        title = plain_label(spec.title, role="title")
        words = plain_label(_words(spec), role="dim", wrap=True)
        buttons = row(STRETCH, self.start, self.stop)
        parts = (title, words, self.bar, self.status, STRETCH, buttons)
        column(*parts, parent=self, margins=(20, 18, 20, 16), spacing=12)

    def _download(self) -> None:
        self.start.setEnabled(False)
        self.status.wait_for("Connecting")
        handlers = Handlers(
            on_done=lambda _: self._on_done(),
            on_failed=self._on_failed,
            on_progress=self._on_progress,
        )
        self._question.ask(FetchBackbone(id=0, key=self._spec.key), handlers)

    def _on_progress(self, progress: Progress) -> None:
        self.status.wait_for(progress.text)
        if progress.fraction is not None:
            self.bar.setValue(round(progress.fraction * _PROMILLE))

    def _on_done(self) -> None:
        self.fetched.emit()
        self.accept()

    def _on_failed(self, error: WorkbenchError) -> None:
        self.start.setEnabled(True)
        self.status.say(f"{error.what} {error.fix}".strip(), is_bad=True)

    def done(self, result: int) -> None:
        """Ends the download, however the dialog is closed."""
        self._question.drop()
        super().done(result)


def _size(spec: BackboneSpec) -> str:
    weights = spec.weights
    return bytes_text(weights.num_bytes) if isinstance(weights, DownloadedWeights) else ""


def _words(spec: BackboneSpec) -> str:
    weights = spec.weights
    host = host_of(weights.address) if isinstance(weights, DownloadedWeights) else ""
    return (
        f"{spec.summary} Its pretrained weights ({_size(spec)}, license {spec.license}) are "
        f"downloaded once from {host} and kept; after that it works offline."
    )


# weights questions ---------------------------------------------------------------------------
# What the window asks about a weights file: the order of its classes, and of its layers.

_SIZE_PX = QSize(640, 380)
_INDENT_PX = 26
_MOST_NAMES = 60

_WORDS = (
    "A weights file does not say which output is which class. Programs sort class names differently"
)
_TAKE, _CANCEL = "Take the order of the file", "Cancel"


class ClassOrderDialog(QDialog):
    """The orders that the classes of a file may have, each with its accuracy and its classes.

    Args:
        found: The orders.
        parent: The window.
    """

    def __init__(self, found: LoadFindings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Order of the classes — Workbench")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.resize(_SIZE_PX)
        self.choices = {order.key: QRadioButton(_sentence(order.title)) for order in found.orders}
        self.load = button("Load", role="primary")
        self.load.setEnabled(False)
        cancel = button("Cancel")
        for choice in self.choices.values():
            choice.toggled.connect(lambda _on: self.load.setEnabled(bool(self.chosen)))
        self.load.clicked.connect(lambda _=False: self.accept())
        cancel.clicked.connect(lambda _=False: self.reject())
        title = plain_label("In which order are the classes?", role="title")
        words = plain_label(f"{_WORDS}. {_measured(found)}", role="dim", wrap=True)
        listed = QWidget()
        parts = [part for order in found.orders for part in self._rows(order)]
        column(*parts, STRETCH, parent=listed, spacing=6)
        buttons = row(STRETCH, self.load, cancel)
        whole = (title, words, scroll_area(listed), buttons)
        column(*whole, parent=self, margins=(20, 18, 20, 16), spacing=12)

    @property
    def chosen(self) -> str:
        """Key of the order that is chosen; "" for none."""
        return next((key for key, choice in self.choices.items() if choice.isChecked()), "")

    def _rows(self, order: ClassOrder) -> list[QWidget]:
        more = len(order.names) - _MOST_NAMES
        names = ", ".join(order.names[:_MOST_NAMES]) + (
            f" and {count(more)} more" if more > 0 else ""
        )
        accuracy = "" if order.accuracy is None else f"{share(order.accuracy)} correct: "
        shown = plain_label(f"{accuracy}{names}", wrap=True)
        below = QWidget()
        row(Gap(_INDENT_PX), (shown, 1), parent=below, margins=(0, 0, 0, 8))
        return [self.choices[order.key], below]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _measured(found: LoadFindings) -> str:
    if not found.num_images:
        return "There are no images to compare the orders with."
    return (
        f"On {count(found.num_images)} {found.part} no order is clearly the best of those that "
        "programs use."
    )


def connect_questions(loader: WeightsLoader, window: QWidget) -> None:
    """Lets the window ask what a file does not say, and say what is doubtful."""

    def ask_classes(path: str, found: LoadFindings) -> None:
        dialog = ClassOrderDialog(found, window)
        dialog.accepted.connect(lambda: loader.load(path, class_order=dialog.chosen))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def ask_layers(path: str, error: WorkbenchError) -> None:
        more = f"{error.received}\n\nSaved as a whole model (.keras), the file would say it."
        if ask_choice(window, error.what, more, (_TAKE, _CANCEL), default=1) == 0:
            loader.load(path, layer_order="file")

    loader.classes_asked.connect(ask_classes)
    loader.layers_asked.connect(ask_layers)
    loader.doubted.connect(lambda text: show_notice(window, "The weights were loaded.", text))
