"""Answers to the newest frame of a camera: others are dropped, and one request is under way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.errors import PictureError, WorkbenchError
from workbench.gui.classify.state import ClassifyState
from workbench.protocol.classify import Classified, Classify

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
