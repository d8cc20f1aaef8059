"""A window with the picture of a camera and the answers following it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QDialog, QSizePolicy, QWidget

from workbench.core.calibration.verdict import UNKNOWN
from workbench.core.format import share
from workbench.errors import WorkbenchError
from workbench.gui.classify.score_bars import ScoreBars
from workbench.gui.classify.state import ClassifyState
from workbench.gui.classify.webcam.live import LiveFrames
from workbench.gui.kit.buttons import button
from workbench.gui.kit.combo import ElidedComboBox
from workbench.gui.kit.labels import ElidedLabel
from workbench.gui.kit.layout import column, row, within_screen
from workbench.gui.kit.painted import PaintedWidget
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.wait_label import WaitLabel
from workbench.protocol.classify import Classified

_PREVIEW = QSize(480, 320)
_SIZE = QSize(520, 640)


class _Preview(PaintedWidget):
    """The newest frame, whole and centered."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, _PREVIEW, least_px=240)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Picture of the camera")
        self.image = QImage()

    def show_image(self, image: QImage) -> None:
        """Shows a frame."""
        self.image = image
        self.update()

    def paint(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), QColor(self._theme.colors.field))
        if self.image.isNull():
            return
        size = self.image.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        place = QRectF(0, 0, size.width(), size.height())
        place.moveCenter(QRectF(self.rect()).center())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(place, self.image)


class WebcamDialog(QDialog):
    """Shows one camera at a time; may stay open beside the window.

    Args:
        state: Whose model answers, and which takes frames that are kept.
        module: Qt Multimedia.
        cameras: QCameraDevices, at least one.
        parent: The window.
    """

    def __init__(
        self, state: ClassifyState, module: Any, cameras: list[Any], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Webcam — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(within_screen(self, _SIZE))
        theme = state.context.theme
        self._state, self._module, self._cameras = state, module, cameras
        self.live = LiveFrames(state, self)
        self.choice = ElidedComboBox()
        self.choice.setAccessibleName("Camera")
        self.choice.addItems([each.description() for each in cameras])
        self.choice.setVisible(len(cameras) > 1)
        self.preview = _Preview(theme)
        self.label = ElidedLabel()
        self.label.setFont(theme.font(22, weight=600))
        self.bars = ScoreBars(theme)
        self.status = WaitLabel()
        self.keep = button("Keep frame", role="primary")
        self.keep.setEnabled(False)
        self.stop = button("Close")
        self.camera: Any = None
        self.sink = module.QVideoSink(self)
        self.session = module.QMediaCaptureSession(self)
        self.session.setVideoSink(self.sink)
        self._build()
        self._connect()
        self._start(0)

    def _build(self) -> None:
        buttons = row(self.keep, (self.status, 1), self.stop, spacing=12)
        bars = self.bars.in_scroll_area()
        parts = (self.choice, (self.preview, 1), self.label, bars, buttons)
        column(*parts, parent=self, margins=(20, 18, 20, 16), spacing=10)

    def _connect(self) -> None:
        self.sink.videoFrameChanged.connect(self.take_frame)
        self.live.pictured.connect(self._on_pictured)
        self.live.answered.connect(self._on_answered)
        self.live.failed.connect(self._on_failed)
        self.choice.activated.connect(self._start)
        self.keep.clicked.connect(self._on_keep)
        self.stop.clicked.connect(self.close)
        self.finished.connect(self._end)
        self._state.closing.connect(self.close)

    def _start(self, place: int) -> None:
        """Starts a camera in place of the one before."""
        self._stop()
        self.status.wait_for("Starting the camera")
        self.camera = self._module.QCamera(self._cameras[place], self)
        self.camera.errorOccurred.connect(self._on_camera_error)
        self.session.setCamera(self.camera)
        self.camera.start()

    def _stop(self) -> None:
        camera, self.camera = self.camera, None
        if camera is not None:
            camera.stop()
            self.session.setCamera(None)
            camera.deleteLater()

    def take_frame(self, frame: Any) -> None:
        """Takes another frame of the camera."""
        if frame.isValid():
            self.live.take(frame.toImage)

    def _on_pictured(self, image: QImage) -> None:
        self.preview.show_image(image)
        if not self.keep.isEnabled():
            self.keep.setEnabled(True)
            self.status.say("")

    def _on_answered(self, answer: Classified) -> None:
        if answer.error is not None:
            self.status.say(answer.error.what, is_bad=True)
            return
        best = answer.scores[0]
        words = UNKNOWN if answer.unknown else f"{best.name} {share(best.probability)}"
        self.label.set_full_text(words)
        self.bars.set_scores([(score.name, score.probability) for score in answer.scores])
        self.status.say("")

    def _on_failed(self, error: WorkbenchError) -> None:
        self.status.say(" ".join(str(error).split()), is_bad=True)

    def _on_camera_error(self, _error: object, words: str) -> None:
        fix = "Close other programs that use the camera."
        self.status.say(f"The camera cannot be used: {words}. {fix}", is_bad=True)

    def _on_keep(self) -> None:
        self._state.classify_image(self.live.image, "webcam frame")

    def _end(self) -> None:
        self._stop()
        self.live.close()

    def closeEvent(self, event: Any) -> None:
        """Ends as Close does: the camera is free again at once."""
        self._end()
        super().closeEvent(event)
