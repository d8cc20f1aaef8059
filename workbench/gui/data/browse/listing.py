"""The list of all images of the project's data set, from the worker."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from workbench.client.question import Handlers, Question
from workbench.core.projects.data_edits import edits_to_plain
from workbench.gui.data.browse.images import Images
from workbench.gui.data.state import DataState
from workbench.protocol.browsing import (
    IdentifyImages,
    ImageContents,
    ImagePlace,
    ListedImages,
    ListImages,
)


class Listing(QObject):
    """Requests the images, and their contents where they are edited.

    Signals:
        listed(Images): All images are known.
        counted(int): So many are known by now.
        failed(WorkbenchError): Why they are not.
    """

    listed = Signal(object)
    counted = Signal(int)
    failed = Signal(object)

    def __init__(self, state: DataState, parent: QObject) -> None:
        super().__init__(parent)
        self._document = state.context.document
        self._list = Question(state.context.service)
        self._identify = Question(state.context.service)

    def ask(self) -> None:
        """Lists the images as they are with the project's edits."""
        images = Images()

        def add(listed: ListedImages) -> None:
            images.add(listed)
            self.counted.emit(len(images))

        handlers = Handlers(
            on_done=lambda _: self.listed.emit(images), on_failed=self.failed.emit, on_part=add
        )
        project = self._document.project
        request = ListImages(
            id=0,
            source=project.dataset.key,
            params=dict(project.dataset.params),
            edits=edits_to_plain(project.edits),
        )
        self._list.ask(request, handlers)

    def identify(self, places: list[ImagePlace], on_done: Callable[[list[str]], None]) -> None:
        """Finds the contents of some images; unreadable ones have none."""

        def take(answer: ImageContents) -> None:
            on_done([content for content in answer.contents if content])

        handlers = Handlers(on_done=take, on_failed=self.failed.emit)
        project = self._document.project
        request = IdentifyImages(
            id=0,
            source=project.dataset.key,
            params=dict(project.dataset.params),
            edits=edits_to_plain(project.edits),
            images=places,
        )
        self._identify.ask(request, handlers)

    def drop(self) -> None:
        """Drops all requests."""
        self._list.drop()
        self._identify.drop()
