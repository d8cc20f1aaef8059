"""What the library of runs lets its background threads do. QtCore only."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFile

from workbench.errors import RunError, WorkbenchError
from workbench.runs.folder import RunFolder
from workbench.runs.index import RunSummary, list_runs
from workbench.runs.queue import start_next
from workbench.runs.trash import check_deletable


def list_and_start_next(home: Path) -> tuple[list[RunSummary], WorkbenchError | None]:
    """The list, after the next waiting run was started if it is its turn; and why not."""
    runs = list_runs(home)
    is_free = not any(run.outcome in ("running", "silent") for run in runs)
    if not (is_free and any(run.queue_place for run in runs)):
        return runs, None
    try:
        start_next(home)
    except WorkbenchError as error:
        return runs, error
    return list_runs(home), None


def trash(path: Path) -> None:
    """Moves a run that has ended to the desktop's trash.

    Raises:
        RunError: it still trains, or the trash cannot be written.
    """
    check_deletable(RunFolder(path))
    if not QFile.moveToTrash(str(path)):
        raise RunError(
            "The run could not be moved to the trash.",
            where=str(path),
            fix="Delete its folder with the file manager.",
        )
