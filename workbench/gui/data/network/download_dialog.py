"""Downloads the weights of a pretrained network, once that was confirmed."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from workbench.backbones import bytes_to_fetch, fetch_weights
from workbench.core.format import bytes_text
from workbench.core.specs import BackboneSpec, DownloadedWeights
from workbench.downloads import host_of
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, row
from workbench.gui.kit.working_dialog import WorkingDialog

_SIZE_PX = QSize(520, 260)
_PROMILLE = 1000


class DownloadWeightsDialog(WorkingDialog):
    """Says what is downloaded and from where; a click downloads it, Cancel ends that.

    Signals:
        fetched: The weights are there.
    """

    fetched = Signal()
    moved = Signal(int)

    def __init__(self, spec: BackboneSpec, parent: QWidget | None = None) -> None:
        super().__init__("Download weights", _SIZE_PX, parent)
        self._spec = spec
        size = bytes_text(bytes_to_fetch(spec))
        weights = spec.weights
        host = host_of(weights.address) if isinstance(weights, DownloadedWeights) else ""
        words = (
            f"{spec.summary} Its pretrained weights ({size}, {spec.license}) are downloaded once "
            f"from {host} and kept; after that it works offline."
        )
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, _PROMILLE)
        self.moved.connect(self.bar.setValue)
        self.start = button(f"Download ({size})", role="primary")
        self.start.clicked.connect(self._download)
        self.lay_out(
            plain_label(spec.title, role="title"),
            plain_label(words, role="dim", wrap=True),
            self.bar,
            self.status,
            STRETCH,
            row(STRETCH, self.start, self.stop),
        )
        self.stop.setText("Cancel")
        self.setWindowModality(Qt.WindowModality.WindowModal)

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Called in the thread that downloads."""
        self.progressed.emit(text)
        if fraction is not None:
            self.moved.emit(round(fraction * _PROMILLE))

    def check_cancelled(self) -> None:
        """Called in the thread that downloads; raises RunError when it was called off."""
        self.check()

    def _download(self) -> None:
        spec = self._spec
        self.run(lambda: fetch_weights(spec, self), lambda _none: self._on_fetched(), "Connecting")

    def _on_fetched(self) -> None:
        self.fetched.emit()
        # The work is over only when this call has returned.
        QTimer.singleShot(0, self, self.accept)

    def refresh(self) -> None:
        super().refresh()
        self.start.setEnabled(not self._background.is_busy)
