"""Heat maps for the picture that is shown: requested from the service, read in a thread."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage, QImageReader

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.client.service_process import ServiceProcess
from workbench.errors import PictureError, WorkbenchError
from workbench.pictures.heat import heat_colors
from workbench.protocol.trained.explain import Explain, Explained

LEVELS = 256


@dataclass(frozen=True)
class ShownMap:
    """An explanation and its maps in memory.

    Attributes:
        answer: The worker's answer.
        heat, check: The map, and the one with random weights, as colors with alpha; no `check`
            (null) where it was not requested.
        levels: The map as rows of its levels, 1 to 255; 0 where the model does not see the picture.
    """

    answer: Explained
    heat: QImage
    check: QImage
    levels: tuple[bytes, ...]


class MapRequests(QObject):
    """At most one request is open; answers to earlier ones are dropped.

    Signals:
        waiting(str): What is being done.
        explained(ShownMap): The latest request has its maps.
        failed(WorkbenchError): It has none.
    """

    waiting = Signal(str)
    explained = Signal(object)
    failed = Signal(object)

    def __init__(self, service: ServiceProcess, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._question = Question(service)
        self._background = background
        self._number = 0

    def send(self, request: Explain) -> None:
        """Requests maps in place of those requested before."""
        self.drop()
        number = self._number
        self.waiting.emit("Computing the heat map")
        self._question.ask(
            request,
            Handlers(
                on_done=lambda answer: self._load(number, answer),
                on_failed=lambda error: self._fail(number, error),
                on_progress=lambda progress: self.waiting.emit(progress.text),
            ),
        )

    def drop(self) -> None:
        """Cancels what is under way: the picture is not shown any more."""
        self._number += 1
        self._question.drop()

    def _load(self, number: int, answer: Explained) -> None:
        def done(shown: ShownMap) -> None:
            if number == self._number:
                self.explained.emit(shown)

        self._background.run(
            lambda: load_maps(answer), done, lambda error: self._fail(number, error)
        )

    def _fail(self, number: int, error: WorkbenchError) -> None:
        if number == self._number:
            self.failed.emit(error)


def load_maps(answer: Explained) -> ShownMap:
    """Reads the files of an answer.

    Raises:
        PictureError: a file is not there any more.
    """
    levels = _read(answer.heat_png)
    check = _colored(_read(answer.check_png)) if answer.check_png else QImage()
    return ShownMap(answer, _colored(levels), check, _rows(levels))


def _read(path: str) -> QImage:
    image = QImageReader(path).read()
    if image.isNull():
        what = "The heat map could not be read."
        raise PictureError(what, where=Path(path).name, fix="Request it again.")
    return image.convertToFormat(QImage.Format.Format_Grayscale8)


def _rows(levels: QImage) -> tuple[bytes, ...]:
    data, step = bytes(levels.constBits()), levels.bytesPerLine()
    return tuple(data[y * step : y * step + levels.width()] for y in range(levels.height()))


def _colored(levels: QImage) -> QImage:
    """An image of levels in the colors of heat maps."""
    width, height, step = levels.width(), levels.height(), levels.bytesPerLine()
    indexed = QImage(levels.constBits(), width, height, step, QImage.Format.Format_Indexed8).copy()
    colors = heat_colors(np.arange(LEVELS, dtype=np.uint8)).tolist()
    indexed.setColorTable([a << 24 | r << 16 | g << 8 | b for r, g, b, a in colors])
    return indexed.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
