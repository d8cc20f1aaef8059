"""The picture of a webcam with the answers following, where Qt Multimedia is installed.

One request is under way at a time, for the newest frame; other frames are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QDialog, QSizePolicy, QWidget

from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question
from workbench.core.calibration import UNKNOWN
from workbench.core.format import share
from workbench.errors import PictureError, WorkbenchError
from workbench.gui.classify.result_card import ScoreBars
from workbench.gui.classify.state import ClassifyState
from workbench.gui.kit.buttons import ElidedComboBox, button
from workbench.gui.kit.labels import ElidedLabel
from workbench.gui.kit.layout import column, row, within_screen
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import PaintedWidget, WaitLabel
from workbench.parts import WEBCAM
from workbench.protocol.classify import Classified, Classify

# live ----------------------------------------------------------------------------------------
# Answers to the newest frame of a camera: others are dropped, and one request is under way.

MAX_PX = 640
"""Longer side of what is shown and classified, in pixels."""

MakeImage = Callable[[], QImage]
"""Converts a frame, in a thread."""


class LiveFrames(QObject):
    """Takes frames as they come, as many as there may be.

    Signals:
        pictured(QImage): A frame to show, made smaller.
        answered(Classified): The answer to one of those frames.
        failed(WorkbenchError): There is no answer; the next frame is tried.
    """

    pictured = Signal(QImage)
    answered = Signal(object)
    failed = Signal(object)

    def __init__(self, state: ClassifyState, parent: QObject) -> None:
        super().__init__(parent)
        self._state = state
        self._question = Question(state.context.service)
        self._background = Background(self, max_threads=1)
        self._path = f"{state.new_file('frame')}.bmp"  # quick to write, and to read
        self._newest: MakeImage | None = None
        self._image = QImage()
        self._is_new = self._is_converting = self._is_saving = False

    @property
    def image(self) -> QImage:
        """The frame that is shown; null before the first."""
        return self._image

    def take(self, make_image: MakeImage) -> None:
        """Takes another frame of the camera: it replaces one that still waits."""
        self._newest = make_image
        self._convert()

    def close(self) -> None:
        """Drops frames and answers, and deletes the frame's file."""
        self._newest = None
        self._question.drop()
        self._background.close()
        Path(self._path).unlink(missing_ok=True)

    def _convert(self) -> None:
        if self._is_converting or self._newest is None:
            return
        make_image, self._newest = self._newest, None
        self._is_converting = True
        self._background.run(lambda: _reduced(make_image()), self._on_image, self._on_unreadable)

    def _on_image(self, image: QImage) -> None:
        self._is_converting = False
        if not image.isNull():
            self._image, self._is_new = image, True
            self.pictured.emit(image)
            self._save()
        self._convert()

    def _on_unreadable(self, error: WorkbenchError) -> None:
        self._is_converting = False
        self.failed.emit(error)

    def _save(self) -> None:
        """Writes the newest frame for the worker, unless that is still reading the last one."""
        run = self._state.run
        if not self._is_new or self._is_saving or self._question.is_open or run is None:
            return
        self._is_new, self._is_saving = False, True
        image, path = self._image, self._path

        def save() -> None:
            if not image.save(path, "BMP"):  # type: ignore[call-overload]  # the stub requires bytes
                raise PictureError("The frame could not be stored.", where=path)

        self._background.run(save, lambda _: self._ask(run), self._on_failed)

    def _ask(self, run: Path) -> None:
        self._is_saving = False
        handlers = Handlers(
            on_done=lambda _done: self._save(),
            on_failed=self._on_failed,
            on_part=self._on_answer,
        )
        self._question.ask(Classify(id=0, model=str(run), pictures=[self._path]), handlers)

    def _on_answer(self, answer: Classified) -> None:
        self.answered.emit(answer)

    def _on_failed(self, error: WorkbenchError) -> None:
        self._is_saving = False
        self.failed.emit(error)


def _reduced(image: QImage) -> QImage:
    if max(image.width(), image.height()) <= MAX_PX:
        return image
    size = QSize(MAX_PX, MAX_PX)
    keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    return image.scaled(size, keep, smooth)


# dialog --------------------------------------------------------------------------------------
# A window with the picture of a camera and the answers following it.

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


# multimedia ----------------------------------------------------------------------------------
# Qt Multimedia, no part of what Workbench installs: what it offers, or why it does not.

_NAME = "PySide6.QtMultimedia"
NO_CAMERA = "No camera was found. Connect one, or allow access to it in the settings of the system."


def multimedia() -> Any:
    """The module; None where it is not installed, or cannot be loaded."""
    return _module() if WEBCAM.is_installed else None


@cache
def _module() -> Any:
    try:
        return import_module(_NAME)
    except ImportError:  # its libraries are missing, or of another version
        return None


def cameras() -> list[Any]:
    """A QCameraDevice for each camera, the usual one first."""
    module = multimedia()
    if module is None:
        return []
    devices = module.QMediaDevices
    return sorted(devices.videoInputs(), key=lambda each: each != devices.defaultVideoInput())


def webcam_reason() -> str:
    """Why there is no picture of a camera; "" where there is one."""
    if multimedia() is None:
        return f"{WEBCAM.library} is not installed. {WEBCAM.install_words}."
    return "" if cameras() else NO_CAMERA
