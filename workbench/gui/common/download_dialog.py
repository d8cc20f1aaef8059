"""Downloads the weights of a pretrained network, once that was confirmed."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QWidget

from workbench.client.question import Handlers, Question
from workbench.client.service_process import ServiceProcess
from workbench.core.format import bytes_text
from workbench.core.specs import BackboneSpec, DownloadedWeights
from workbench.downloads.download import host_of
from workbench.errors import WorkbenchError
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.wait_label import SteadyBar, WaitLabel
from workbench.protocol.backbone import FetchBackbone
from workbench.protocol.messages import Progress

_SIZE_PX = QSize(520, 260)
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
        self.resize(_SIZE_PX)
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
