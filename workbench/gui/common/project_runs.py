"""Reports the open project to the library of runs, and asks before another project's run is
ended.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from workbench.client.run_library import RunLibrary
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.document.project_document import ProjectDocument
from workbench.gui.common.run_text import quoted_name
from workbench.gui.kit.messages import ask_choice
from workbench.runs.library.projects import OpenProject


class ProjectRuns(QObject):
    """Follows a document: another project opened, begun, saved elsewhere."""

    def __init__(
        self, document: ProjectDocument, library: RunLibrary, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._library = library
        for news in (document.project_replaced, document.identity_changed, document.path_changed):
            news.connect(self._refresh)

    def _refresh(self) -> None:
        document = self._document
        if not document.project_id:  # a window that nothing was opened in yet
            self._library.set_project(None)
            return
        path = document.path
        if path is not None:
            self._library.keep_place(document.project_id, str(path))
        title = path.name.removesuffix(PROJECT_SUFFIX) if path is not None else ""
        where = str(path) if path is not None else ""
        self._library.set_project(OpenProject.of(document.project, where, title))


def may_end(library: RunLibrary, path: Path, window: QWidget, *, is_pause: bool = False) -> bool:
    """Whether a run may be ended: one of another project only when a person agrees to it by its
    name.
    """
    run = library.summary(path)
    if run is None or run.queue_place or library.is_own(run):
        return True
    verb, more = "Stop", "Its weights are saved after the current step."
    if is_pause:
        verb, more = "Pause", "A checkpoint is saved; the run can be resumed."
    words = f"This is a run of another project, not of the one that is open. {more}"
    choices = (f"{verb} this run", "Cancel")
    return ask_choice(window, f"{verb} {quoted_name(run)}?", words, choices, default=1) == 0
