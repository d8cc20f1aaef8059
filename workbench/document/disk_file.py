"""The project's file as the disk has it: whether another program has changed it."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.core.storage.file_stamp import FileStamp, OnlyOver, read_stamp
from workbench.document.file_writer import FileWriter
from workbench.document.open_marks import OpenMarks
from workbench.errors import SaveError


class DiskState(Enum):
    """What the disk has, beside what was read or written here last."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"


class DiskFile(QObject):
    """Compares by content. The disk is checked by the writer, after what is still to be
    written: an own save is never mistaken for another window's.

    Args:
        writer: The document's.
        folder: Where windows of this user see each other and take turns in saving.

    Attributes:
        path: The file; None while the project has none.
        stamp: What was read from it or written to it here last.
        found: What it held when it was last looked at; None for no file.
        is_open_elsewhere: Another window of this user has it open, too.

        num_looks: Looks that are still to come.

    `changed` is emitted when `state`, `found` or `is_open_elsewhere` has.
    """

    changed = Signal()

    def __init__(self, writer: FileWriter, folder: Path) -> None:
        super().__init__(writer)
        self._writer = writer
        self._folder = folder
        self._marks = OpenMarks(folder)
        self.path: Path | None = None
        self.stamp: FileStamp | None = None
        self.found: FileStamp | None = None
        self.is_open_elsewhere = False
        self.num_looks = 0

    @property
    def state(self) -> DiskState:
        """As of the last check."""
        if self.path is None or self.found == self.stamp:
            return DiskState.SAME
        return DiskState.GONE if self.found is None else DiskState.CHANGED

    def take(self, path: Path | None, stamp: FileStamp | None) -> None:
        """The document has just been read from a file or written to it, or has none."""
        is_other = path != self.path
        self.path, self.stamp = path, stamp
        if is_other:
            marks = self._marks
            work = marks.release if path is None else lambda: marks.hold(path)
            self._writer.write(work, lambda _error: self.look())
        self._show(stamp, is_open_elsewhere=self.is_open_elsewhere and not is_other)

    def look(self) -> None:
        """Looks at the disk soon, in the writer's thread; a file that cannot be read counts as
        unchanged.
        """
        path, stamp, marks = self.path, self.stamp, self._marks
        if path is None:
            return
        self.num_looks += 1
        seen: list[tuple[FileStamp | None, bool]] = []

        def done(_error: SaveError | None) -> None:
            self.num_looks -= 1
            # Read or written again since: what was seen is older than that.
            if seen and path == self.path and stamp is self.stamp:
                self._show(seen[0][0], is_open_elsewhere=seen[0][1])

        self._writer.write(
            lambda: seen.append((read_stamp(path), marks.is_held_elsewhere(path))), done
        )

    def guard(self, target: Path, over: FileStamp | None) -> OnlyOver:
        """Around the rename of a save: of the project's own file only what was read or written
        here, or `over`, is replaced.
        """
        expected = [stamp for stamp in (self.stamp, over) if stamp is not None]
        return OnlyOver(target, expected if target == self.path else None, self._folder)

    def saw(self, found: FileStamp | None) -> None:
        """A save has found something else in the file."""
        self._show(found, is_open_elsewhere=self.is_open_elsewhere)

    def close(self) -> None:
        """Gives the mark back, and looks no more; everything must be written."""
        self.path = None
        self._marks.release()

    def _show(self, found: FileStamp | None, *, is_open_elsewhere: bool) -> None:
        before = (self.found, self.is_open_elsewhere)
        self.found, self.is_open_elsewhere = found, is_open_elsewhere
        if before != (found, is_open_elsewhere):
            self.changed.emit()
