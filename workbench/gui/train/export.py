"""Exporting a trained run: the one way for the File menu and the list of runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.question import Handlers
from workbench.client.service_process import ServiceProcess
from workbench.core.specs import ExportSpec
from workbench.errors import WorkbenchError
from workbench.gui.kit.messages import show_error
from workbench.gui.kit.save_path import ask_save_path
from workbench.protocol.export import Export
from workbench.runs.naming import SEPARATOR


class ExportAction(QObject):
    """Asks where to write a run's model, and writes it.

    `said` with what is being done, and how it ended; "" after a failure.
    """

    said = Signal(str)

    def __init__(self, service: ServiceProcess, window: QWidget) -> None:
        super().__init__(window)
        self._service = service
        self._window = window

    def ask(self, run: Path, title: str, specs: Sequence[ExportSpec]) -> None:
        """Exports a run in one of some formats; the first is proposed."""
        filters = {f"{spec.title} (*{spec.suffix})": spec for spec in specs}
        name = title.replace(SEPARATOR, " ").replace("/", "-")
        name += specs[0].suffix if len(specs) == 1 else ""
        offered = ";;".join(filters)
        path, chosen = ask_save_path(self._window, f"Export {title}", name, offered, kind="export")
        if not path:
            return
        spec = filters.get(chosen, specs[0])
        self.said.emit(f"Exporting to {Path(path).name}…")
        handlers = Handlers(
            on_done=lambda answer: self.said.emit(answer.text or "Exported."),
            on_failed=self._on_failed,
            on_progress=lambda progress: self.said.emit(progress.text),
        )
        self._service.send(Export(id=0, model=str(run), format=spec.key, path=path), handlers)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.said.emit("")
        show_error(self._window, error)
