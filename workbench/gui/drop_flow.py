"""Files dropped on the window: explained while they hang over it, then sent their way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtGui import QDragEnterEvent, QDropEvent

from workbench.core.source import parse_source
from workbench.errors import WorkbenchError
from workbench.gui.context import WindowContext
from workbench.gui.dialogs.messages import show_error
from workbench.gui.drops import Drop, sort_drop

if TYPE_CHECKING:
    from workbench.gui.main_window import MainWindow


class DropFlow(QObject):
    """Takes the window's drag and drop events."""

    def __init__(self, context: WindowContext, window: MainWindow) -> None:
        super().__init__(window)
        self._context = context
        self._window = window
        self._drop: Drop | None = None  # what hangs over the window

    def enter(self, event: QDragEnterEvent) -> None:
        """Says what a drop would do; files that cannot be used are explained too."""
        if not event.mimeData().hasUrls():
            event.ignore()
            return
        drop = self._drop = sort_drop(local_paths(event.mimeData()))
        self._window.overlay.say(drop.words, is_welcome=drop.is_welcome)
        event.acceptProposedAction()

    def leave(self) -> None:
        """The files are no longer over the window."""
        self._drop = None
        self._window.overlay.hide()

    def drop(self, event: QDropEvent) -> None:
        """Does what was said."""
        drop = self._drop or sort_drop(local_paths(event.mimeData()))
        self.leave()
        event.acceptProposedAction()
        self.take(drop)

    def take(self, drop: Drop) -> None:
        """Sends dropped paths to where they belong."""
        if drop.kind == "project":
            self._window.open_project(drop.paths[0])
        elif drop.kind == "pictures":
            self._window.classify(list(drop.paths))
        elif drop.kind == "class_folders":
            self.use_folder(drop.paths[0])
        elif drop.kind == "arrays":
            self.use_data(f"npz:{drop.paths[0]}")
        elif drop.kind == "weights":
            self._window.runs.load_weights(drop.paths[0])
        elif drop.kind == "result":
            self._window.notebooks.read(drop.paths[0])
        else:
            self._window.say(drop.words)

    def use_folder(self, folder: str) -> None:
        """Makes a folder the project's data set; where there is no network yet, starts with
        one that fits the folder.
        """
        document = self._context.document
        if document.graph.nodes or document.path is not None:
            self.use_data(f"folder:{folder}")
        else:
            self._window.start.from_folder(folder)

    def use_data(self, source: str) -> None:
        """Makes a source the project's data set and shows what is in it."""
        try:
            choice = parse_source(source, self._context.datasets)
        except WorkbenchError as error:
            show_error(self._window, error)
            return
        self._context.document.set_dataset(choice)
        self._window.show_view("data")


def local_paths(mime: QMimeData) -> list[str]:
    """The files and folders of this computer among what is dragged."""
    return [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]
