"""The one save routine of the application: whatever happens, the old file or the new one.

Written to a temporary file in the same folder, flushed to the disk, renamed over the old
file, and the folder flushed. A kill or a power cut at any moment leaves one of the two
files whole. The temporary file is locked while it is written, so that a leftover of a
killed process can be distinguished from a save that is going on elsewhere.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.own_file import (
    is_locked,
    link_found,
    lock_descriptor,
    make_own_folder,
    make_private,
    refuse_link,
    take_lock,
)
from workbench.errors import FileChangedError, LinkFoundError, SaveError, UnconfirmedSaveError

# file stamp ----------------------------------------------------------------------------------
# What a file held when it was last read or written, and a save that replaces only just that.
#
# A stamp compares by content: a file that was touched, or copied back, has not changed.

_WAIT_S = 10.0
"""Longest wait for another window's lock, which is held for a comparison and a rename only."""


@dataclass(frozen=True)
class FileStamp:
    """The content of a file in short.

    Attributes:
        digest: sha256 of the content, hexadecimal.
        size: Length in bytes.
        modified_at: When the file was written, in seconds since the epoch; not compared.
    """

    digest: str
    size: int
    modified_at: float = field(compare=False)

    @classmethod
    def of_bytes(cls, data: bytes) -> FileStamp:
        """The stamp of a content that is read or written now."""
        return cls(hashlib.sha256(data).hexdigest(), len(data), time.time())


def read_stamp(path: Path) -> FileStamp | None:
    """The stamp of the file at `path`; None when there is none.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    try:
        opened = open_foreign(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with opened as file:
        info = os.fstat(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return FileStamp(digest, info.st_size, info.st_mtime)


def path_key(path: Path) -> str:
    """A name for a file, the same on every way to it through links: for locks."""
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]


class OnlyOver(contextlib.AbstractContextManager["OnlyOver"]):
    """Around the rename of a save: the file holds what is expected, and no other window of this
    user replaces it in between. The lock file stays, empty: what blocks is a living process
    that holds the lock, never a leftover.

    Args:
        path: The file that is replaced.
        expected: Contents that may be replaced; None for any. A file that is gone is written.
        locks: Folder of the lock files.

    Attributes:
        found: What the file held.

    Raises:
        FileChangedError: on entering: the file holds something else.
        SaveError: on entering: another window is saving all the time.
    """

    def __init__(self, path: Path, expected: Collection[FileStamp] | None, locks: Path) -> None:
        self._path = path
        self._expected = expected
        self._locks = locks
        self._lock: int | None = None
        self.found: FileStamp | None = None

    def __enter__(self) -> Self:
        self._take_lock()
        try:
            self._compare()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release()

    def _take_lock(self) -> None:
        """A state folder that cannot be written, or is behind a link, leaves the comparison alone
        to protect.
        """
        with contextlib.suppress(OSError, LinkFoundError):
            make_own_folder(self._locks, parents=True)
            path = self._locks / f"{path_key(self._path)}.save"
            self._lock = take_lock(path, wait_s=_WAIT_S)
            if self._lock is None:
                raise SaveError(
                    f"“{self._path.name}” was not saved: another window is saving it.",
                    where=str(self._path.parent),
                    fix="Save again.",
                )

    def _compare(self) -> None:
        if self._expected is None:
            return
        self.found = read_stamp(self._path)
        if self.found is not None and self.found not in self._expected:
            raise FileChangedError(
                f"“{self._path.name}” was not saved: another program has changed it.",
                where=str(self._path.parent),
                fix="Reload it, or save in another file.",
            )

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


# save ----------------------------------------------------------------------------------------


class Sink(Protocol):
    """Takes a file's content, from front to back."""

    def write(self, data: bytes, /) -> int:
        """Takes all of `data`; returns its length."""

    def flush(self) -> None:
        """Hands on what is held back."""


_TEMPORARY = re.compile(r"\.workbench-save-[0-9a-f]{16}")
_LEFTOVER_AGE_S = 3600.0
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of Linux
_NO_FOLDER_FLUSH = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
"""What file systems answer that have nothing to flush for a folder: not a fault."""

_CAUSES = {
    errno.ENOSPC: ("the disk is full", "Free some space, or save in another folder."),
    errno.EDQUOT: ("your disk quota is exceeded", "Free some space, or save in another folder."),
    errno.EFBIG: ("the file is larger than allowed", "Save in another folder."),
    errno.EACCES: ("permission denied", "Save in another folder."),
    errno.EPERM: ("permission denied", "Save in another folder."),
    errno.EROFS: ("the disk is read-only", "Save in another folder."),
    errno.ENOENT: ("the folder does not exist", "Create the folder, or save in another one."),
    errno.ENOTDIR: ("part of the path is a file, not a folder", "Save in another folder."),
    errno.EEXIST: ("part of the path is a file, not a folder", "Save in another folder."),
    errno.EISDIR: ("a folder has that name", "Choose another name."),
    errno.ENAMETOOLONG: ("the name is too long", "Choose a shorter name."),
    errno.ELOOP: ("the path has a loop of symbolic links", "Save in another folder."),
    errno.EIO: ("the disk reported an error", "Save on another disk."),
}


NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_full_disk(error: SaveError) -> bool:
    """Whether a file was not saved for want of room."""
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in NO_SPACE


Guard = contextlib.AbstractContextManager[object]
_UNGUARDED: Guard = contextlib.nullcontext()


def save_bytes(
    path: str | Path,
    data: bytes,
    *,
    through_link: bool = False,
    guard: Guard = _UNGUARDED,
    is_private: bool = False,
) -> None:
    """Replaces the file at `path` by `data`, or leaves it as it is.

    Permissions of a file that is there are kept. A file that may not be written is not
    replaced, although its folder would allow it.

    Args:
        path: File to replace.
        data: Its new content.
        through_link: A person keeps their file behind a link and has named the link: it stays
            one, and the file that it points to is replaced. A link to nothing is rejected.
        guard: Entered right before the rename and left after it; what entering raises
            comes through, and the old file stays.
        is_private: A new file is for this user alone (0600).

    Raises:
        LinkFoundError: there is a link, and it is not to be followed.
        UnconfirmedSaveError: the new file is there, but the disk did not confirm it.
        SaveError: nothing was saved; the old file is unharmed.
    """

    def write(file: Sink) -> None:
        file.write(data)

    save_stream(path, write, through_link=through_link, guard=guard, is_private=is_private)


def save_with_folder(path: Path, data: bytes) -> None:
    """Saves a file of the program's own for this user alone (0600), and makes its folder where
    there is none yet.
    """
    try:
        make_private(path.parent)
    except OSError as error:
        raise _not_saved(path, error) from error
    save_bytes(path, data, is_private=True)


def save_stream(
    path: str | Path,
    write: Callable[[Sink], None],
    *,
    through_link: bool = False,
    guard: Guard = _UNGUARDED,
    is_private: bool = False,
) -> None:
    """Replaces a file as `save_bytes` does, with content that is not held in memory as a whole.

    Args:
        path: File to replace.
        write: Writes the content into a file opened for it; called once. What it raises
            beside OSError and ValueError comes through, with the old file unharmed.
        through_link: As of `save_bytes`.
        guard: As for `save_bytes`.
        is_private: As for `save_bytes`.
    """
    path = Path(path)
    try:
        target = _target_of(path, through_link=through_link)
        mode = _mode_to_keep(target)
        mode = 0o600 if mode is None and is_private else mode
        temporary = _write_temporary(target.parent, write, mode)
        try:
            with guard:
                temporary.replace(target)
        except BaseException:
            _remove(temporary)
            raise
    except (OSError, ValueError, RuntimeError) as error:
        raise _not_saved(path, error) from error
    try:
        _flush_folder(target.parent)
    except OSError as error:
        raise _not_confirmed(path, error) from error


def save_folder(path: str | Path, source: str | Path) -> None:
    """Replaces the folder at `path` by a copy of another one, or leaves it as it is.

    Args:
        path: Folder to replace, or to make beside what is there.
        source: A folder of regular files and folders.

    Raises:
        LinkFoundError: `path` is a link.
        UnconfirmedSaveError: the new folder is there, but the disk did not confirm it.
        SaveError: nothing was saved; the old folder is unharmed.
    """
    path = Path(path).absolute()
    refuse_link(path)
    temporary = path.parent / f".workbench-save-{secrets.token_hex(8)}"
    try:
        temporary.mkdir()
        try:
            with _locked(temporary):
                shutil.copytree(source, temporary, dirs_exist_ok=True)
                _flush_tree(temporary)
                _put_in_place(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)  # what was there before, or half a copy
    except (OSError, ValueError) as error:
        raise _not_saved(path, error) from error
    try:
        _flush_folder(path.parent)
    except OSError as error:
        raise _not_confirmed(path, error) from error


def refuse_unwritable(path: Path, *, is_folder: bool) -> None:
    """Raises SaveError where `save_bytes`, or `save_folder`, could not even begin to write at this
    path; nothing is changed there. For what takes long before it can be saved.
    """
    try:
        refuse_link(path)
        if is_folder:
            with contextlib.suppress(FileNotFoundError):
                path.lstat()  # a name may be too long
        else:
            _mode_to_keep(path)
        _remove(_write_temporary(path.absolute().parent, lambda _file: None, None))
    except (OSError, ValueError) as error:
        raise _not_saved(path, error) from error


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Holds the lock of a folder that is being made."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some network folders have no locks
            lock_descriptor(descriptor)
        yield
    finally:
        os.close(descriptor)


def _flush_tree(folder: Path) -> None:
    for found, _, files in os.walk(folder):
        for name in files:
            descriptor = os.open(Path(found) / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        _flush_folder(Path(found))


def _put_in_place(temporary: Path, path: Path) -> None:
    """Renames a folder over the one that is there, which is under the temporary name afterwards."""
    if not path.exists():
        temporary.rename(path)
        return
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if _exchange(temporary, path):
        return
    # Where the system cannot exchange two folders: the old one is away for a moment, and comes
    # back where the new one cannot be put in its place.
    aside = path.parent / f".workbench-save-{secrets.token_hex(8)}"
    path.rename(aside)
    try:
        temporary.rename(path)
    except OSError:
        aside.rename(path)
        raise
    aside.rename(temporary)


def _exchange(one: Path, other: Path) -> bool:
    """Exchanges the names of two folders in one step; False where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):  # not Linux
        return False
    code: int = rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return code == 0


def sweep_leftovers(folder: str | Path, *, min_age_s: float = _LEFTOVER_AGE_S) -> int:
    """Removes temporary files that killed processes left behind; returns their number.

    Only regular files and folders of this module's own name pattern go, older than an hour and
    with no process holding their lock. A folder that cannot be listed has none.

    Args:
        folder: Looked through, but not the folders within.
        min_age_s: Younger ones stay; 0 where no other process can be saving just now.
    """
    removed = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and _is_leftover(entry, min_age_s):
                _remove(Path(entry.path))
                removed += 1
    return removed


def _target_of(path: Path, *, through_link: bool) -> Path:
    """The file to replace."""
    if not through_link:
        refuse_link(path)
        return path.absolute()
    target = Path(os.path.realpath(path))  # of links in a circle, too
    if path.is_symlink() and not target.exists():
        raise link_found(path)
    return target


def _mode_to_keep(target: Path) -> int | None:
    """Permission bits of the file that will be replaced; None when there is none."""
    try:
        info = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(info.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(info.st_mode):
        raise ValueError("not a regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_IMODE(info.st_mode)


def _write_temporary(folder: Path, write: Callable[[Sink], None], mode: int | None) -> Path:
    """Writes a new file of `folder` and waits until the disk has it."""
    path = folder / f".workbench-save-{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    try:
        try:
            with contextlib.suppress(OSError):  # some network folders have no locks
                lock_descriptor(descriptor)
            if mode is not None:
                os.fchmod(descriptor, mode)
            write(_Sink(descriptor))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        _remove(path)
        raise
    return path


class _Sink:
    """What a new file's content is written into: each piece goes straight to the system."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes, /) -> int:
        """Writes all of it."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        return size

    def flush(self) -> None:
        """No-op: nothing is buffered here."""


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_FLUSH:
            raise
    finally:
        os.close(descriptor)


def _is_leftover(entry: os.DirEntry[str], min_age_s: float) -> bool:
    try:
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            return False
        if time.time() - entry.stat(follow_symlinks=False).st_mtime < min_age_s:
            return False
        return not is_locked(entry.path)
    except OSError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()


def _not_saved(path: Path, error: Exception) -> SaveError:
    number = error.errno if isinstance(error, OSError) else None
    cause, fix = _CAUSES.get(number or 0, (str(error), "Save in another folder."))
    kept = " The previous one is unchanged." if os.path.lexists(path) else ""
    return SaveError(
        f"“{path.name}” was not saved: {cause}.{kept}",
        where=str(path.parent),
        fix=fix,
    )


def _not_confirmed(path: Path, error: OSError) -> UnconfirmedSaveError:
    cause, _ = _CAUSES.get(error.errno or 0, (str(error), ""))
    return UnconfirmedSaveError(
        f"“{path.name}” was saved, but the disk did not confirm it: {cause}.",
        where=str(path.parent),
        fix="Save again, or save a copy on another disk.",
    )
