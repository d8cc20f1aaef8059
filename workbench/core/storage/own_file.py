"""Files that the program writes on its own, into folders of its own making: never through a link.

Such a folder may come from elsewhere: a shared folder, an unpacked archive, a memory stick. A
link planted there, under a name that the program writes, would lead it to any file of the
user's. It is reported and left alone. A path that a person has named is the opposite case; see
`through_link` of `save_bytes`.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
import time
from pathlib import Path

from workbench.core.storage.foreign_file import open_descriptor
from workbench.errors import LinkFoundError

_BESIDE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def refuse_link(path: str | Path) -> None:
    """Raises LinkFoundError where there is a link at `path`, also one that leads nowhere."""
    with contextlib.suppress(OSError):  # what cannot be looked at cannot be written either
        if stat.S_ISLNK(os.lstat(path).st_mode):
            raise link_found(path)


def link_found(path: str | Path) -> LinkFoundError:
    """The error that names a link, and what it points to."""
    path = Path(path)
    try:
        received = f"a link to {os.readlink(path)}"  # noqa: PTH115 - also of a name that is no Path
    except OSError:
        received = "a file that has other names too (hard links)"
    return LinkFoundError(
        f"“{path.name}” is a link. Workbench does not write through links here.",
        where=str(path),
        received=received[:300],
        expected="a file or folder of its own",
        fix="Delete the link, or replace it with the file or folder itself.",
    )


def open_own(path: str | Path, flags: int, mode: int = 0o644) -> int:
    """Opens a file of the program's own, not for child processes; returns the descriptor.

    Args:
        path: The file.
        flags: As of `os.open`; O_TRUNC takes effect once it is known what was opened.
        mode: Permissions of a file that is made by O_CREAT.

    Raises:
        LinkFoundError: it is a symbolic link, or one of several names of a file.
        OSError: it cannot be opened, or is no regular file.
    """
    # Without waiting: a pipe of that name would be waited for.
    safe = (flags & ~os.O_TRUNC) | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, safe, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            refuse_link(path)
        raise
    try:
        _check_opened(path, os.fstat(descriptor))
        if flags & os.O_TRUNC:
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_opened(path: str | Path, info: os.stat_result) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    if info.st_nlink > 1:
        raise link_found(path)


def make_private(path: Path) -> None:
    """Makes a folder of the program's own, and those that it is in, where they are missing: for
    this user alone (0700). One that is there keeps its permissions. Raises OSError.
    """
    missing = []
    for folder in (path, *path.parents):
        if folder.exists():
            break
        missing.append(folder)
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process was faster
            folder.mkdir(mode=0o700)
    path.mkdir(exist_ok=True)  # raises where something else has its name


def make_own_folder(path: Path, *, parents: bool = False) -> None:
    """Makes a folder for this user alone (0700) where there is none. Raises LinkFoundError where a
    link has its name, OSError where it cannot be made.
    """
    refuse_link(path)
    if parents:
        make_private(path)
    else:
        path.mkdir(mode=0o700, exist_ok=True)


def replace_own(path: Path, data: bytes) -> None:
    """Replaces a file that can be made again: a reader sees the old or the new one, but the disk
    is not waited for. Raises LinkFoundError, OSError.
    """
    refuse_link(path)
    beside = path.with_name(f".{path.name[:200]}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(beside, _BESIDE, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


# file lock -----------------------------------------------------------------------------------
# Locks on open files (flock): the kernel drops them with the process that holds them.
#
# Process ids are reused and silence is not death; such a lock is neither.


def lock_descriptor(descriptor: int) -> None:
    """Locks an open file for as long as it stays open, without waiting.

    Raises:
        BlockingIOError: another process holds the lock.
        OSError: the file system has no locks.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def take_lock(path: Path, *, wait_s: float = 2.0) -> int | None:
    """Locks a file, made where it does not exist, for as long as the returned descriptor stays
    open; None when another process holds the lock.

    It is tried for `wait_s` seconds: a call of `is_locked` holds the lock for a moment. Raises
    LinkFoundError, OSError as `open_own`.
    """
    descriptor = open_own(path, os.O_RDWR | os.O_CREAT)
    deadline = time.monotonic() + wait_s
    while True:
        try:
            lock_descriptor(descriptor)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(0.01)
        else:
            return descriptor


def is_locked(path: str | Path) -> bool:
    """True while some process holds the lock.

    Raises:
        OSError: it cannot be determined: nothing is there, it is neither a regular file nor a
            folder, or not ours to read (a link is not followed), or its file system has no locks.
    """
    descriptor = open_descriptor(path, follows_links=False, takes_folders=True)
    try:
        # Shared: two that ask at once do not mistake each other for the holder.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def has_open(pid: int, path: Path) -> bool:
    """Whether a process of this account has a file open, as the holder of its lock has."""
    try:
        lock = path.stat()
        numbers = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208 - names alone
    except OSError:
        return False  # it ended, or belongs to another user
    for number in numbers:
        with contextlib.suppress(OSError):  # closed meanwhile
            if os.path.samestat(os.stat(f"/proc/{pid}/fd/{number}"), lock):  # noqa: PTH116 - as above
                return True
    return False
