"""Starting a project from a folder of images: they are counted in another thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.client.service_process import ServiceProcess
from workbench.core.projects.project import Choice, Project
from workbench.errors import WorkbenchError
from workbench.gui.files.controller import FileController
from workbench.gui.kit.messages import show_error
from workbench.protocol.messages import DataDescription, DescribeData
from workbench.starter import DataFacts, start_for_data, start_for_folder


class StartController(QObject):
    """The way from a folder to a project that fits it.

    A folder chosen later, or any project opened meanwhile, calls the counting off.

    Signals:
        said: What is being done, "" when it is over.
        started: The project is open.
    """

    said = Signal(str)
    started = Signal()

    def __init__(self, files: FileController, service: ServiceProcess, window: QWidget) -> None:
        super().__init__(window)
        self._question = Question(service)
        self._window = window
        self._files = files
        self._background = Background(self, max_threads=1)
        self._asked = 0
        self._is_counting = False
        files.opened.connect(self._call_off)

    def close(self) -> None:
        """Waits for what still reads."""
        self._background.close()

    def from_folder(self, folder: str) -> None:
        """Starts a project that fits a folder of images, and shows them."""
        self._asked += 1
        number = self._asked

        def start(project: Project) -> None:
            if number == self._asked:
                self._call_off()
                self._start(project)

        def fail(error: WorkbenchError) -> None:
            if number == self._asked:
                self._call_off()
                show_error(self._window, error)

        self._is_counting = True
        self.said.emit(f"Counting the images in “{Path(folder).name}”…")
        self._background.run(lambda: start_for_folder(folder).project, start, fail)

    def from_source(self, choice: Choice) -> None:
        """Starts a project that fits a data set, once a worker has looked into it."""
        self._asked += 1
        number = self._asked

        def start(found: DataDescription) -> None:
            if number == self._asked:
                self._call_off()
                self._start(start_for_data(DataFacts.of(choice, found)).project)

        def fail(error: WorkbenchError) -> None:
            if number == self._asked:
                self._call_off()
                show_error(self._window, error)

        self._is_counting = True
        self.said.emit("Counting the images…")
        request = DescribeData(id=0, source=choice.key, params=dict(choice.params))
        say = Handlers(on_done=start, on_failed=fail, on_progress=lambda p: self.said.emit(p.text))
        self._question.ask(request, say)

    def _call_off(self) -> None:
        self._asked += 1
        self._question.drop()
        if self._is_counting:
            self._is_counting = False
            self.said.emit("")

    def _start(self, project: Project) -> None:
        if self._files.new(project):
            self.started.emit()
