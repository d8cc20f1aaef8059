"""From a run to its project: its file where that exists, else what the run was made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.background import Background
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import read_project
from workbench.errors import ProjectFileError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.files.controller import FileController
from workbench.gui.kit.messages import ask_choice, show_error
from workbench.runs.folder import RunFolder
from workbench.runs.library.places import file_of, read_places
from workbench.runs.library.summary import summarise


@dataclass(frozen=True)
class _Found:
    """What is known of a run's project.

    Attributes:
        trained: It, as it was trained.
        path: Its file; None where there is none any more.
        saved: What is in that file; None where it is of another project, or cannot be read.
    """

    trained: Project
    path: Path | None
    saved: Project | None


class RunOpener(QObject):
    """Opens the project of a run, and makes the run the current one: `opened` then."""

    opened = Signal()

    def __init__(self, context: WindowContext, files: FileController, window: QWidget) -> None:
        super().__init__(window)
        self._document = context.document
        self._library = context.library
        self._files = files
        self._window = window
        self._background = Background(self, max_threads=1)

    def close(self) -> None:
        """Waits for what still reads."""
        self._background.close()

    def open(self, run: Path | str) -> None:
        """Opens the project of a run. Its files are read in another thread."""
        path = Path(run)
        self._background.run(
            lambda: _find(RunFolder(path)), lambda found: self._show(path, found), self._on_failed
        )

    def _show(self, run: Path, found: _Found) -> None:
        if not self._is_open(found) and not self._open(found):
            return
        self._library.select(run, by_user=True)
        self.opened.emit()

    def _is_open(self, found: _Found) -> bool:
        """Whether the window shows this project already, so that nothing is to be opened."""
        document = self._document
        is_same = bool(document.project_id) and document.project_id == found.trained.id
        return is_same and is_alike(document.project, found.trained)

    def _open(self, found: _Found) -> bool:
        """Opens the chosen one; False where none was chosen."""
        if found.path is None or found.saved is None:
            return self._files.restore(found.trained)
        if is_alike(found.saved, found.trained):
            return self._files.open(str(found.path))
        what = f"“{found.path.name}” has changed since this run."
        more = (
            "Open the file as it is now, or the project as it was trained: as a copy, the file "
            "stays as it is."
        )
        answer = ask_choice(self._window, what, more, ("Open the file", "As trained", "Cancel"))
        if answer == 0:
            return self._files.open(str(found.path))
        return answer == 1 and self._files.restore(found.trained, found.path)

    def _on_failed(self, error: WorkbenchError) -> None:
        show_error(self._window, error)


def is_alike(project: Project, other: Project) -> bool:
    """Whether two projects train the same: their looks and where they train may differ."""
    parts = ("graph", "recipe", "dataset")
    return all(getattr(project, part) == getattr(other, part) for part in parts)


def _find(run: RunFolder) -> _Found:
    trained, summary = run.project(), summarise(run)
    path = None if summary is None else file_of(summary, read_places(run.path.parent))
    if path is None:
        return _Found(trained, None, None)
    try:
        saved = read_project(path)
    except ProjectFileError:
        return _Found(trained, path, None)
    # Another project may have been saved in its place; a run of an earlier version has no id.
    is_same = saved.id == trained.id or not trained.id
    return _Found(trained, path, saved if is_same else None)
