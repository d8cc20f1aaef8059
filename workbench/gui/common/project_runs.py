"""Reports the open project to the library of runs."""

from __future__ import annotations

from PySide6.QtCore import QObject

from workbench.client.run_library import RunLibrary
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.document.project_document import ProjectDocument
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
