"""New, open, save: the way of project files through the window, with its questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.document.project_document import ProjectDocument
from workbench.errors import WorkbenchError
from workbench.gui.common.window_state import WindowState
from workbench.gui.kit.messages import Answer, ask_choice, ask_unsaved, show_error
from workbench.gui.kit.save_path import ask_save_path

_FILTER = f"Workbench projects (*{PROJECT_SUFFIX});;All files (*)"


class FileController(QObject):
    """Opens and saves projects; asks before anything unsaved is lost.

    `opened` is emitted after another project has taken the document's place.
    """

    opened = Signal()

    def __init__(self, document: ProjectDocument, state: WindowState, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._state = state
        self._window = window

    @property
    def name(self) -> str:
        """What the project is called: its file, else its title."""
        path = self._document.path
        if path:
            return Path(path).name.removesuffix(PROJECT_SUFFIX)
        original = self._document.recovered_from
        if original is not None:
            return f"{original.name.removesuffix(PROJECT_SUFFIX)} (recovered)"
        return self._document.project.title or "untitled"

    def new(self, project: Project | None = None) -> bool:
        """Starts a project (an empty one without an argument); False when called off."""
        if not self.may_lose_changes():
            return False
        self._document.new(project or Project())
        self.opened.emit()
        return True

    def ask_open(self) -> bool:
        """Lets the user choose a project file and opens it."""
        path, _ = QFileDialog.getOpenFileName(
            self._window, "Open project", self._start_folder(), _FILTER
        )
        return bool(path) and self.open(path)

    def open(self, path: str) -> bool:
        """Opens a project file; says what is wrong with one that cannot be opened."""
        if not self.may_lose_changes() or not self._read(path):
            return False
        self._state.add_recent(path)
        self.opened.emit()
        return True

    def save(self) -> bool:
        """Saves to the project's file, asking for one where there is none."""
        path = self._document.path
        return self._save_to(str(path)) if path else self.save_as()

    def save_as(self) -> bool:
        """Asks for a file and saves to it."""
        start = str(Path(self._start_folder()) / f"{self.name}{PROJECT_SUFFIX}")
        path, _ = ask_save_path(self._window, "Save project", start, _FILTER)
        return bool(path) and self._save_to(path)

    def revert(self) -> bool:
        """Goes back to the saved file, after asking."""
        path = self._document.path
        if not path:
            return False
        what = f"Revert to the last saved version of {Path(path).name}?"
        choices = ("Revert", "Cancel")
        if ask_choice(self._window, what, "Unsaved changes will be lost.", choices, default=1) != 0:
            return False
        if not self._read(path):
            return False
        self.opened.emit()
        return True

    def may_lose_changes(self) -> bool:
        """True when nothing is unsaved, or the user saved or discarded it."""
        if not self._document.is_dirty:
            return True
        answer = ask_unsaved(self._window, self.name)
        if answer is Answer.SAVE:
            return self.save()
        return answer is Answer.DISCARD

    def _read(self, path: str | Path) -> bool:
        return self._is_done(lambda: self._document.open(Path(path)))

    def _save_to(self, path: str) -> bool:
        is_saved = self._is_done(lambda: self._document.save(Path(path)))
        if is_saved:
            self._state.add_recent(path)
        return is_saved

    def _is_done(self, act: Callable[[], object]) -> bool:
        """Opens or saves; False after a failure, which has been shown."""
        try:
            act()
        except WorkbenchError as error:
            show_error(self._window, error)
            return False
        return True

    def _start_folder(self) -> str:
        path = self._document.path or self._document.recovered_from
        if path:
            return str(Path(path).parent)
        recent = self._state.recent()
        return str(Path(recent[0]).parent) if recent else str(Path.home())
