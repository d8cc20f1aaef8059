"""Writing the report of a run: the one way for the Run menu, the list of runs and its links."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.question import Handlers
from workbench.client.service_process import ServiceProcess
from workbench.errors import WorkbenchError
from workbench.gui.kit.messages import show_error
from workbench.gui.kit.save_path import ask_save_path
from workbench.protocol.report import MakeReport
from workbench.runs.naming import SEPARATOR

_FILTERS = "Web page (*.html);;PDF (*.pdf)"


class ReportAction(QObject):
    """Asks where to write a run's report, and has it written.

    `said` with what is being done, and how it ended; "" after a failure.
    """

    said = Signal(str)

    def __init__(self, service: ServiceProcess, window: QWidget) -> None:
        super().__init__(window)
        self._service = service
        self._window = window

    def ask(self, run: Path, title: str) -> None:
        """Writes the report of a run, trained or not; the format is the file's ending."""
        name = title.replace(SEPARATOR, " ").replace("/", "-")
        path, _ = ask_save_path(
            self._window,
            f"Report of {title}",
            name,
            _FILTERS,
            kind="report",
            is_format_by_name=True,
        )
        if not path:
            return
        self.said.emit(f"Writing {Path(path).name}…")
        handlers = Handlers(
            on_done=lambda answer: self.said.emit(answer.text),
            on_failed=self._on_failed,
            on_progress=lambda progress: self.said.emit(progress.text),
        )
        self._service.send(MakeReport(id=0, run=str(run), path=path), handlers)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.said.emit("")
        show_error(self._window, error)
