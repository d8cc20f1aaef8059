"""Saves the predictions of a folder as a table, in a thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.background import Background
from workbench.errors import WorkbenchError
from workbench.gui.kit.save_path import ask_save_path
from workbench.runs.export.save_classified import save_classified

TABLES = "CSV table (*.csv);;Parquet table (*.parquet)"


class TableSaver(QObject):
    """Asks for a name, then writes the table.

    Args:
        widget: What the dialog is in front of.

    Signals:
        said(str): How it ended, in words.
        failed(WorkbenchError): It was not saved.
    """

    said = Signal(str)
    failed = Signal(object)

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._background = Background(self, max_threads=1)

    def close(self) -> None:
        """Waits for what is being written."""
        self._background.close()

    def ask(self, rows: Path, name: str) -> None:
        """Lets the user choose a file for the rows of a CSV file; `name` is proposed."""
        chosen, _ = ask_save_path(
            self._widget, "Save as table", name, TABLES, kind="table", is_format_by_name=True
        )
        if chosen:
            path = Path(chosen)
            self._background.run(
                partial(save_classified, rows, path),
                lambda _done: self.said.emit(f"Saved as {path.name}."),
                self._on_failed,
            )

    def _on_failed(self, error: WorkbenchError) -> None:
        self.failed.emit(error)
