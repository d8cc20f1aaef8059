"""Small images of what can be seen: requested when they are first drawn, a bounded number kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QImage, QPixmap

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.client.service_process import ServiceProcess
from workbench.errors import WorkbenchError
from workbench.gui.images.source import ImageSource
from workbench.protocol.browsing import ImagePlace, MakeThumbnails, ThumbnailsMade

_KEPT = 1_500
"""Pixmaps in memory: 100 MB at most."""

_WANTED = 300
"""More than a screen shows: what was scrolled past is dropped."""

_DELAY_MS = 40
"""While the grid is scrolled, what has passed is not requested."""


class ImageThumbnails(QObject):
    """A cache by image. Files are read in a thread; the window only draws.

    Args:
        service: Makes them.
        source: Which data set they are of, whenever some are requested; `clear` when it changes.
        parent: Who shows them.

    Signals:
        arrived(): Some more are there.
    """

    arrived = Signal()

    def __init__(
        self, service: ServiceProcess, source: Callable[[], ImageSource], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._source = source
        self._question = Question(service)
        self._background = Background(self, max_threads=1)
        self._known: OrderedDict[ImagePlace, QPixmap] = OrderedDict()
        self._wanted: OrderedDict[ImagePlace, str] = OrderedDict()
        self._asked: set[ImagePlace] = set()
        self._generation = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MS)
        self._timer.timeout.connect(self._fetch)

    def pixmap(self, place: ImagePlace, file: str = "") -> QPixmap | None:
        """The image, null where it cannot be read; None while it is not there. Where its file is
        given, the place is not looked up.
        """
        found = self._known.get(place)
        if found is not None:
            self._known.move_to_end(place)
            return found
        self._wanted[place] = file
        self._wanted.move_to_end(place)
        while len(self._wanted) > _WANTED:
            self._wanted.popitem(last=False)
        if place not in self._asked and not self._timer.isActive():
            self._timer.start()
        return None

    def known_pixmap(self, place: ImagePlace) -> QPixmap | None:
        """The image where it is there; nothing is requested."""
        return self._known.get(place)

    def clear(self) -> None:
        """Forgets all, with other images."""
        self._generation += 1
        self._question.drop()
        self._timer.stop()
        self._known.clear()
        self._wanted.clear()
        self._asked.clear()

    def close(self) -> None:
        """Clears the thumbnails, and ends all reading."""
        self.clear()
        self._background.close()

    def _fetch(self) -> None:
        """Requests what is wanted now, in place of what was requested before."""
        if not self._wanted:
            return
        images, files = list(self._wanted), list(self._wanted.values())
        self._asked = set(images)
        request = MakeThumbnails(
            id=0, **self._source().fields(), images=images, files=files if any(files) else []
        )
        handlers = Handlers(on_done=self._on_done, on_failed=self._on_failed, on_part=self._read)
        self._question.ask(request, handlers)

    def _read(self, made: ThumbnailsMade) -> None:
        generation = self._generation

        def take(images: list[QImage]) -> None:
            if generation == self._generation:
                self._take(made.images, images)

        self._background.run(lambda: [_image(path) for path in made.paths], take)

    def _take(self, places: list[ImagePlace], images: list[QImage]) -> None:
        for place, image in zip(places, images, strict=True):
            self._known[place] = QPixmap.fromImage(image)
            self._wanted.pop(place, None)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        self.arrived.emit()

    def _on_done(self, _answer: object) -> None:
        self._asked.clear()

    def _on_failed(self, _error: WorkbenchError) -> None:
        self._asked.clear()
        self._wanted.clear()


def _image(path: str) -> QImage:
    return QImage(path) if path else QImage()
