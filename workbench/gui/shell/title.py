"""The title of the window: which project, whether it is saved, and who else has it open."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from workbench.document.project_document import ProjectDocument
from workbench.gui.files.controller import FileController


class WindowTitle(QObject):
    """Keeps the title, and the action that reverts, in step with the project.

    Args:
        window: The window.
        document: Its project.
        files: Names it.
        revert: The action.
        is_at_start: Whether the welcome page is shown: without a project there is no name.
    """

    def __init__(
        self,
        window: QWidget,
        document: ProjectDocument,
        files: FileController,
        revert: QAction,
        is_at_start: Callable[[], bool],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._document = document
        self._files = files
        self._revert = revert
        self._is_at_start = is_at_start
        document.dirty_changed.connect(lambda _dirty: self.refresh())
        document.path_changed.connect(self.refresh)
        document.disk.changed.connect(self.refresh)
        document.project_replaced.connect(self.refresh)

    def refresh(self) -> None:
        """Shows what is so now."""
        is_bare = self._is_at_start() and not self._files.has_project
        name = f"[*]{self._files.name} — Workbench{self._files.elsewhere}"
        self._window.setWindowTitle("Workbench[*]" if is_bare else name)
        self._window.setWindowModified(self._document.is_dirty)
        self._revert.setEnabled(self._files.can_revert)
