"""The project's file as the disk has it: whether another program has changed it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEventLoop, QObject, QRunnable, QThreadPool, Signal

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import read_stamped
from workbench.core.storage.save import FileStamp, OnlyOver, read_stamp
from workbench.document.recovery import OpenMarks
from workbench.errors import ProjectFileError, SaveError

# file writer ---------------------------------------------------------------------------------
# Writes files in a thread of its own, one after another, so that no window waits.

Done = Callable[[SaveError | None], None]


class _Write(QRunnable):
    """Not a function given to the pool: PySide 6.11 sometimes crashes when it deletes those."""

    def __init__(self, owner: FileWriter, number: int, save: Callable[[], None]) -> None:
        super().__init__()
        self.setAutoDelete(True)
        self._owner = owner
        self._number = number
        self._save = save

    def run(self) -> None:
        self._owner.written.emit(self._number, _outcome_of(self._save))


class FileWriter(QObject):
    """A queue of writes. What they need must be immutable: they run in another thread."""

    written = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._waiting: dict[int, Done] = {}
        self._number = 0
        self._is_closed = False
        self.written.connect(self._on_written)

    def write(self, save: Callable[[], None], done: Done) -> None:
        """Runs `save` soon; `done` is called in this thread with its SaveError or None."""
        if self._is_closed:
            return
        self._number += 1
        number = self._number
        self._waiting[number] = done
        self._pool.start(_Write(self, number, save))

    def write_and_wait(self, save: Callable[[], None]) -> None:
        """Runs `save` after all others and returns when it is done; the window goes on
        painting meanwhile, but takes no keys and clicks.

        Raises:
            SaveError: what `save` raised.
        """
        loop = QEventLoop()
        outcome: list[SaveError | None] = []

        def finish(error: SaveError | None) -> None:
            outcome.append(error)
            loop.quit()

        self.write(save, finish)
        while not outcome:
            loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        if outcome[0] is not None:
            raise outcome[0]

    def finish(self) -> None:
        """Blocks until everything is written: for the end of the application."""
        self._pool.waitForDone(-1)

    def close(self) -> None:
        """Finishes as `finish` does, and takes nothing more: for writes that may be lost, such as a
        layout.
        """
        self._is_closed = True
        self.finish()

    def _on_written(self, number: int, error: SaveError | None) -> None:
        self._waiting.pop(number)(error)


def _outcome_of(save: Callable[[], None]) -> SaveError | None:
    """Runs a write in the pool's thread; nothing may escape there, so all is made words."""
    try:
        save()
    except SaveError as error:
        return error
    except Exception as error:  # noqa: BLE001 - handed to the window's thread in words
        return SaveError("The file could not be written.", received=f"{error}")
    return None


# disk file -----------------------------------------------------------------------------------


class DiskState(Enum):
    """What the disk has, beside what was read or written here last."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"


class _Seen(NamedTuple):
    """What a look has found.

    Attributes:
        found: The content; None for no file.
        project: The project in it, where that is another content than the expected one.
        is_open_elsewhere: Another window of this user has it open, too.
    """

    found: FileStamp | None
    project: Project | None
    is_open_elsewhere: bool


class DiskFile(QObject):
    """Compares by content. The disk is checked by the writer, after what is still to be
    written, and what was seen beside an own save is not used: an own save is never mistaken
    for another window's.

    A file that another program has written with the same project, but for positions on the
    canvas, is taken for the one that was read: there is nothing to be asked about.

    Args:
        writer: The document's.
        folder: Where windows of this user see each other and take turns in saving.
        is_same: Whether a project is what the document has, but for positions.

    Attributes:
        path: The file; None while the project has none.
        stamp: What was read from it or written to it here last.
        found: What it held when it was last looked at; None for no file.
        is_open_elsewhere: Another window of this user has it open, too.

        num_looks: Looks that are still to come.

    `changed` is emitted when `state`, `found` or `is_open_elsewhere` has; `rearranged` when another
    program has written the same project, perhaps with other positions.
    """

    changed = Signal()
    rearranged = Signal()

    def __init__(
        self, writer: FileWriter, folder: Path, is_same: Callable[[Project], bool]
    ) -> None:
        super().__init__(writer)
        self._writer = writer
        self._is_same = is_same
        self._is_saving = False
        self._is_look_due = False
        self._folder = folder
        self._marks = OpenMarks(folder)
        self.path: Path | None = None
        self.stamp: FileStamp | None = None
        self.found: FileStamp | None = None
        self.is_open_elsewhere = False
        self.num_looks = 0

    @property
    def state(self) -> DiskState:
        """Whether the file was the same, changed or gone at the last check."""
        if self.path is None or self.found == self.stamp:
            return DiskState.SAME
        return DiskState.GONE if self.found is None else DiskState.CHANGED

    def take(self, path: Path | None, stamp: FileStamp | None) -> None:
        """The document has just been read from a file or written to it, or has none."""
        before, is_other = self._shown(), path != self.path
        self.path, self.stamp = path, stamp
        if is_other:
            marks = self._marks
            work = marks.release if path is None else lambda: marks.hold(path)
            self._writer.write(work, lambda _error: self.look())
        self._show(stamp, is_open_elsewhere=self.is_open_elsewhere and not is_other, before=before)

    @contextlib.contextmanager
    def saving(self) -> Iterator[None]:
        """Around a save and the `take` after it: a look that comes meanwhile, as with the window
        that becomes active again behind a question, is due afterwards.
        """
        self._is_saving = True
        try:
            yield
        finally:
            self._is_saving = False
        if self._is_look_due:
            self._is_look_due = False
            self.look()

    def look(self) -> None:
        """Looks at the disk soon, in the writer's thread; a file that cannot be read counts as
        unchanged.
        """
        path, stamp = self.path, self.stamp
        if path is None:
            return
        if self._is_saving:
            self._is_look_due = True
            return
        self.num_looks += 1
        seen: list[_Seen] = []

        def done(_error: SaveError | None) -> None:
            self.num_looks -= 1
            # Read or written again since: what was seen is older than that.
            if seen and path == self.path and stamp is self.stamp:
                self._take_seen(seen[0])

        self._writer.write(lambda: seen.append(self._see(path, stamp)), done)

    def _see(self, path: Path, expected: FileStamp | None) -> _Seen:
        """In the writer's thread."""
        found = read_stamp(path)
        project = None
        if found is not None and found != expected:
            with contextlib.suppress(ProjectFileError):  # no project: certainly another one
                project, stamp = read_stamped(path)
                found = replace(stamp, modified_at=found.modified_at)
        return _Seen(found, project, self._marks.is_held_elsewhere(path))

    def _take_seen(self, seen: _Seen) -> None:
        before = self._shown()
        if seen.project is not None and self._is_same(seen.project):
            self.stamp = seen.found
            self.rearranged.emit()
        self._show(seen.found, is_open_elsewhere=seen.is_open_elsewhere, before=before)

    def guard(self, target: Path, over: FileStamp | None) -> OnlyOver:
        """Around the rename of a save: of the project's own file only what was read or written
        here, or `over`, is replaced.
        """
        expected = [stamp for stamp in (self.stamp, over) if stamp is not None]
        return OnlyOver(target, expected if target == self.path else None, self._folder)

    def saw(self, found: FileStamp | None) -> None:
        """A save has found something else in the file."""
        before = self._shown()
        self._show(found, is_open_elsewhere=self.is_open_elsewhere, before=before)

    def close(self) -> None:
        """Gives the mark back, and looks no more; everything must be written."""
        self.path = None
        self._marks.release()

    def _shown(self) -> tuple[DiskState, FileStamp | None, bool]:
        return self.state, self.found, self.is_open_elsewhere

    def _show(
        self,
        found: FileStamp | None,
        *,
        is_open_elsewhere: bool,
        before: tuple[DiskState, FileStamp | None, bool],
    ) -> None:
        self.found, self.is_open_elsewhere = found, is_open_elsewhere
        if self._shown() != before:
            self.changed.emit()
