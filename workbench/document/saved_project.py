"""The file of the project being edited: new, open, save, recover."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from workbench.core.projects.project import Project, new_project_id
from workbench.core.projects.project_file import project_bytes, read_stamped
from workbench.core.storage.file_stamp import FileStamp, OnlyOver
from workbench.core.storage.save import save_bytes, sweep_leftovers
from workbench.document.edited_project import EditedProject
from workbench.errors import FileChangedError, UnconfirmedSaveError, UsageError


class SavedProject(EditedProject):
    """An edited project that comes from a file and goes into one."""

    def new(self, project: Project | None = None) -> None:
        """Starts with a project that has no file yet (an empty one, a template, ...), as one of
        its own: two of the same template do not share their runs.
        """
        self._replace(replace(project or Project(), id=""), None)

    def restore(self, project: Project, origin: Path | None = None) -> None:
        """Goes on with a project without a file, such as that of a run, as the same project.

        Args:
            project: What it was.
            origin: The file that it was of.
        """
        self._replace(project, None, origin=origin)

    def open(self, path: str | Path) -> None:
        """Opens a project file; raises ProjectFileError and keeps what was open."""
        path = Path(path).absolute()
        project, stamp = read_stamped(path)
        self._replace(project, path, stamp)

    def recover(self, project: Project, original: Path | None = None) -> None:
        """Shows a project found after a crash: an unsaved copy, never over the original."""
        self._replace(project, None, origin=original, is_recovered=True)

    def save(self, path: str | Path | None = None, *, over: FileStamp | None = None) -> None:
        """Saves to the project's file, or to another one that becomes the project's.

        Returns when the file is written; painting goes on meanwhile. Beside the file that it came
        from it is a copy, and from here on a project of its own, with runs of its own. Where that
        file is gone (renamed, moved) or there was none, it stays the project it is.

        Args:
            path: Another file.
            over: What another program has written to the project's file, if that may be
                replaced: what the user was shown, so that a still later change is not.

        Raises:
            SaveError: not saved, and still dirty.
            FileChangedError: another program has changed the file; `disk.found` says to what.
            UnconfirmedSaveError: saved, but the disk did not confirm it.
            UsageError: no path is given, and the project has none.
        """
        target = Path(path).absolute() if path is not None else self.path
        if target is None:
            raise UsageError("The project has no file yet.", fix="Choose a file to save it in.")
        state, project = self._state, self.project
        if self._origin is not None and self._origin != target and self._origin.exists():
            project = replace(project, id=new_project_id())
        guard, written = self.disk.guard(target, over), list[FileStamp]()
        with self.disk.saving():
            try:
                self.writer.write_and_wait(lambda: _save(project, target, guard, written))
            except FileChangedError:
                self.disk.saw(guard.found)
                raise
            except UnconfirmedSaveError:
                self._take_saved(state, target, written[0], project.id)
                raise
            self._take_saved(state, target, written[0], project.id)

    def close(self) -> None:
        """Waits for what is still written; for the end of the application."""
        self.writer.finish()
        self._looker.close()
        self.disk.close()


def _save(project: Project, path: Path, guard: OnlyOver, written: list[FileStamp]) -> None:
    """Runs in the writer's thread; adds the stamp of the content to `written`."""
    sweep_leftovers(path.parent)
    data = project_bytes(project, path)
    written.append(FileStamp.of_bytes(data))
    save_bytes(path, data, through_link=True, guard=guard)
