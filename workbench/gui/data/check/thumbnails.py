"""Small images of findings, fetched when they are first to be drawn."""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QPixmap

from workbench.client.question import Handlers, Question
from workbench.core.data_check.findings import FoundImage
from workbench.errors import WorkbenchError
from workbench.gui.data.state import DataState
from workbench.protocol.data_check import FoundThumbnails, ShowFound

SIZE_PX = 192
"""Longer side: they are drawn large beside the list, at a half of it in the list."""

_AT_ONCE = 16
_KEPT = 600
"""Pixmaps in memory: 80 MB at most."""

_DELAY_MS = 30
"""While a list is scrolled, what has passed is not fetched."""


class FoundPictures(QObject):
    """A cache of small images by content; what is missing is fetched, the newest wishes first.

    Signals:
        arrived(): Some more are there.
    """

    arrived = Signal()

    def __init__(self, state: DataState) -> None:
        super().__init__(state)
        self._document = state.context.document
        self._question = Question(state.context.measurer)
        self._known: OrderedDict[str, QPixmap] = OrderedDict()
        self._wanted: OrderedDict[str, FoundImage] = OrderedDict()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MS)
        self._timer.timeout.connect(self._fetch)

    def pixmap(self, image: FoundImage) -> QPixmap | None:
        """The image, null where it cannot be read; None while it is not there."""
        if (found := self._known.get(image.content)) is not None:
            self._known.move_to_end(image.content)
            return found
        self._wanted[image.content] = image
        self._wanted.move_to_end(image.content)
        while len(self._wanted) > 4 * _AT_ONCE:
            self._wanted.popitem(last=False)  # scrolled past
        if not self._timer.isActive() and not self._question.is_open:
            self._timer.start()
        return None

    def clear(self) -> None:
        """Forgets all, with other findings."""
        self._question.drop()
        self._known.clear()
        self._wanted.clear()

    def _fetch(self) -> None:
        if self._question.is_open or not self._wanted:
            return
        images = [self._wanted.popitem()[1] for _ in range(min(_AT_ONCE, len(self._wanted)))]
        choice = self._document.project.dataset

        def take(answer: FoundThumbnails) -> None:
            self._take(images, answer.paths)

        def fail(_error: WorkbenchError) -> None:
            self._take(images, [""] * len(images))

        request = ShowFound(
            id=0, source=choice.key, params=dict(choice.params), images=images, size=SIZE_PX
        )
        self._question.ask(request, Handlers(on_done=take, on_failed=fail))

    def _take(self, images: list[FoundImage], paths: list[str]) -> None:
        for image, path in zip(images, paths, strict=True):
            self._known[image.content] = QPixmap(path) if path else QPixmap()
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        self.arrived.emit()
        self._fetch()
