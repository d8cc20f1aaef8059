"""Starting a project from images: they are counted in another thread, or described by a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.core.format import share
from workbench.core.projects.project import Choice
from workbench.core.projects.source import source_choice
from workbench.datasets.folder import SPEC as FOLDER
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.files.controller import FileController
from workbench.gui.kit.messages import show_error
from workbench.protocol.describe_data import DataDescription, DescribeData
from workbench.protocol.messages import Progress
from workbench.starter import DataFacts, Start, start_for_data, start_for_folder


class StartController(QObject):
    """The way from images to a project that fits them.

    Images chosen later, or any project opened meanwhile, call the counting off.

    Signals:
        said: What is being done, "" when it is over.
        started: The project is open.
    """

    said = Signal(str)
    started = Signal()

    def __init__(self, context: WindowContext, files: FileController, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._files = files
        self._datasets = context.datasets
        self._background = Background(self, max_threads=1)
        self._question = Question(context.service)
        self._asked = 0
        self._is_counting = False
        files.opened.connect(self.cancel)

    def close(self) -> None:
        """Waits for what still reads."""
        self._question.drop()
        self._background.close()

    def from_folder(self, folder: str) -> None:
        """Starts a project that fits a folder of images."""
        self.from_data(source_choice(FOLDER, folder))

    def from_data(self, choice: Choice) -> None:
        """Starts a project that fits some images, and shows them."""
        self.cancel()
        self._is_counting = True
        name = self._datasets[choice.key].name_of(choice.params)
        if choice.key == FOLDER.key:
            self.said.emit(f"Counting the images in “{name}”…")
            self._choose(lambda: start_for_folder(choice))
            return
        self.said.emit(f"Reading “{name}”…")
        request = DescribeData(id=0, source=choice.key, params=dict(choice.params))
        handlers = Handlers(
            on_done=lambda found: self._on_described(choice, found),
            on_failed=self._on_failed,
            on_progress=self._on_progress,
        )
        self._question.ask(request, handlers)

    def cancel(self) -> None:
        """Calls off what is being counted."""
        self._asked += 1
        self._question.drop()
        if self._is_counting:
            self._is_counting = False
            self.said.emit("")

    def _on_progress(self, progress: Progress) -> None:
        done = "" if progress.fraction is None else f" ({share(progress.fraction, 0)})"
        self.said.emit(f"{progress.text.rstrip('.…')}{done}…")

    def _on_described(self, choice: Choice, found: DataDescription) -> None:
        title = PurePath(self._datasets[choice.key].name_of(choice.params)).stem

        def start() -> Start:
            chosen = start_for_data(DataFacts.of(choice, found))
            return replace(chosen, project=replace(chosen.project, title=title))

        self._choose(start)

    def _choose(self, work: Callable[[], Start]) -> None:
        """Chooses in another thread: the costs of whole networks are worked out for it."""
        number = self._asked

        def take(start: Start) -> None:
            if number == self._asked:
                self.cancel()
                self._open(start)

        def fail(error: WorkbenchError) -> None:
            if number == self._asked:
                self._on_failed(error)

        self._background.run(work, take, fail)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.cancel()
        show_error(self._window, error)

    def _open(self, start: Start) -> None:
        if self._files.new(start.summarized):
            self.started.emit()
