"""New, open, save: the way of project files through the window, with its questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.core.storage.file_stamp import FileStamp
from workbench.document.disk_file import DiskState
from workbench.document.project_document import ProjectDocument
from workbench.errors import FileChangedError, WorkbenchError
from workbench.gui.common.window_state import WindowState
from workbench.gui.files.compare_with_file import CompareWithFile, changed_words
from workbench.gui.kit.file_dialogs import ask_file, start_folder
from workbench.gui.kit.messages import Answer, ask_choice, ask_unsaved, show_error
from workbench.gui.kit.save_path import ask_save_path
from workbench.moving.bundle import BUNDLE_SUFFIX

_CHANGED_CHOICES = ("Save as…", "Overwrite", "Reload", "Compare…", "Cancel")
_ELSEWHERE_MS = 5_000
"""Between looks while another window has the project open: its end is not reported."""
_FILTER = f"Workbench projects (*{PROJECT_SUFFIX});;All files (*)"
_OPENED = f"Workbench projects and bundles (*{PROJECT_SUFFIX} *{BUNDLE_SUFFIX});;All files (*)"


class FileController(QObject):
    """Opens and saves projects; asks before anything unsaved is lost, here or in a file that
    another program has changed. The file is checked whenever the window becomes active.

    `opened` is emitted after another project has taken the document's place; `said` carries a
    sentence for the status line; `bundle_wanted` the path of a bundle that is to be opened.
    """

    opened = Signal()
    bundle_wanted = Signal(str)
    said = Signal(str)

    def __init__(self, document: ProjectDocument, state: WindowState, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._state = state
        self._window = window
        self._was_elsewhere = False
        self.elsewhere_timer = QTimer(self)
        self.elsewhere_timer.setInterval(_ELSEWHERE_MS)
        self.elsewhere_timer.timeout.connect(document.disk.look)
        window.installEventFilter(self)
        document.disk.changed.connect(self._on_disk_changed)
        document.disk.rearranged.connect(self._on_rearranged)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowActivate:
            self._document.disk.look()
            self._document.look_for_data()
        return super().eventFilter(watched, event)

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

    @property
    def has_project(self) -> bool:
        """There is something to go back to: a file, a network, or unsaved work."""
        document = self._document
        return document.path is not None or bool(document.graph.nodes) or document.is_dirty

    @property
    def elsewhere(self) -> str:
        """The end of the title where another window has the project open, else nothing."""
        return " · also open in another window" if self._document.disk.is_open_elsewhere else ""

    @property
    def can_revert(self) -> bool:
        """The project has a file, and it differs from what is shown."""
        disk = self._document.disk
        is_other = self._document.is_dirty or disk.state is DiskState.CHANGED
        return self._document.path is not None and disk.state is not DiskState.GONE and is_other

    def new(self, project: Project | None = None) -> bool:
        """Starts a project (an empty one without an argument); False when called off."""
        if not self.may_lose_changes():
            return False
        self._document.new(project or Project())
        self.opened.emit()
        return True

    def restore(self, project: Project, origin: Path | None = None) -> bool:
        """Goes on with a project that has no file, as the same project; False when called off.
        `origin` is the file that it was of, where that is still there.
        """
        if not self.may_lose_changes():
            return False
        self._document.restore(project, origin)
        self.opened.emit()
        return True

    def close(self) -> bool:
        """Closes the project; False when called off."""
        if not self.may_lose_changes():
            return False
        self._document.new()
        return True

    def ask_open(self) -> bool:
        """Lets the user choose a project file and opens it."""
        path = ask_file(self._window, "Open project", _OPENED, kind="project")
        return bool(path) and self.open(path)

    def open(self, path: str) -> bool:
        """Opens a project file; shows what is wrong with one that cannot be opened. A bundle is
        opened soon, once it is known where its folder goes.
        """
        if path.lower().endswith(BUNDLE_SUFFIX):
            self.bundle_wanted.emit(path)
            return False
        if not self.may_lose_changes() or not self._read(path):
            return False
        self._state.add_recent(path)
        self.opened.emit()
        return True

    def save(self) -> bool:
        """Saves to the project's file, asking for one where there is none."""
        path = self._document.path
        return self._save_to(str(path)) if path else self.save_as()

    def saved_path(self) -> Path | None:
        """The project's file, saved as it is shown; None where that was called off."""
        if (self._document.is_dirty or self._document.path is None) and not self.save():
            return None
        return Path(self._document.path) if self._document.path is not None else None

    def save_as(self) -> bool:
        """Asks for a file and saves to it."""
        known = self._document.path or self._document.recovered_from
        folder = known.parent if known else Path(start_folder(self._window, "project"))
        start = str(folder / f"{self.name}{PROJECT_SUFFIX}")
        path, _ = ask_save_path(self._window, "Save project", start, _FILTER, kind="project")
        return bool(path) and self._save_to(path)

    def revert(self) -> bool:
        """Goes back to the file as it is, after asking where that loses something."""
        path = self._document.path
        if not path:
            return False
        what = f"Revert to the last saved version of {Path(path).name}?"
        more, choices = "Unsaved changes will be lost.", ("Revert", "Cancel")
        if (
            self._document.is_dirty
            and ask_choice(self._window, what, more, choices, default=1) != 0
        ):
            return False
        return self._reload(path)

    def overwrite(self) -> bool:
        """Saves over what another program has written, as far as it was reported."""
        path = self._document.path
        return path is not None and self._save_to(str(path), over=self._document.disk.found)

    def compare(self) -> None:
        """Shows what differs between the project and its file."""
        if self._document.path is not None:
            CompareWithFile(self._document, self._window).exec()

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

    def _on_disk_changed(self) -> None:
        is_elsewhere = self._document.disk.is_open_elsewhere
        if is_elsewhere and not self._was_elsewhere:
            self.said.emit(f"{self.name} is also open in another window.")
        self._was_elsewhere = is_elsewhere
        if is_elsewhere != self.elsewhere_timer.isActive():
            (self.elsewhere_timer.start if is_elsewhere else self.elsewhere_timer.stop)()

    def _on_rearranged(self) -> None:
        self.said.emit(
            f"{self.name} was saved by another program, with the same network, training settings "
            "and data."
        )

    def _reload(self, path: Path) -> bool:
        if not self._read(path):
            return False
        self.opened.emit()
        return True

    def _save_to(self, path: str, *, over: FileStamp | None = None) -> bool:
        try:
            is_saved = self._is_done(lambda: self._document.save(Path(path), over=over))
        except FileChangedError:
            return self._ask_about_change(Path(path))
        if is_saved:
            self._state.add_recent(path)
        return is_saved

    def _ask_about_change(self, path: Path) -> bool:
        """Another program has changed the file that is to be saved; True once it is saved."""
        disk = self._document.disk
        choice = "Compare…"
        while choice == "Compare…":
            over = disk.found  # what the question is about; a later change is a new question
            what = f"“{path.name}” was changed by another program"
            more = (
                f"{changed_words(over, is_open_elsewhere=disk.is_open_elsewhere)} Overwriting "
                "discards what it contains now, reloading discards your unsaved changes."
            )
            index = ask_choice(self._window, what, more, _CHANGED_CHOICES)
            choice = _CHANGED_CHOICES[index]
            if choice == "Compare…":
                self.compare()
        if choice == "Overwrite":
            return self._save_to(str(path), over=over)
        if choice == "Reload":
            self._reload(path)
        return choice == "Save as…" and self.save_as()

    def _is_done(self, act: Callable[[], object]) -> bool:
        """Opens or saves; False after a failure, which has been shown."""
        try:
            act()
        except FileChangedError:
            raise
        except WorkbenchError as error:
            show_error(self._window, error)
            return False
        return True

    def start_folder(self) -> str:
        """Folder in which dialogs begin that were never used: the project's folder, or the last
        one's.
        """
        path = self._document.path or self._document.recovered_from
        if path:
            return str(Path(path).parent)
        recent = self._state.recent()
        return str(Path(recent[0]).parent) if recent else str(Path.home())
