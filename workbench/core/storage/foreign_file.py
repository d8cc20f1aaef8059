"""The one way to read a file that may come from elsewhere, or that another program may have put in
place of ours: a run folder, a settings folder, what a person names.

Such a name may belong to a pipe, a device, a folder, a link in a circle, or a file of any length.
Opening waits for nobody, only a regular file is read, also behind a link, and of that never more
than the reader has room for. Every refusal is an OSError with words, and FileNotFoundError where
there is nothing.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

SMALL_BYTES = 1024 * 1024
"""Room for a file that holds a few values."""

REQUEST_BYTES = 64 * 1024 * 1024
"""Room for the request of a run: a whole project, with all that was changed in its data."""


def open_foreign(path: str | Path, *, follows_links: bool = True) -> io.BufferedReader:
    """Opens a regular file for reading, in binary, not for child processes.

    Raises:
        OSError: there is none, it is something else than a regular file, or a link although
            `follows_links` is False.
    """
    return os.fdopen(open_descriptor(path, follows_links=follows_links), "rb")


def open_descriptor(
    path: str | Path, *, follows_links: bool = True, takes_folders: bool = False
) -> int:
    """Opens a file as `open_foreign` does, or a folder where `takes_folders`; returns the
    descriptor.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        # Before it is opened: opening alone may move a tape, or wake a process behind a pipe.
        info = os.stat(path, follow_symlinks=follows_links)  # noqa: PTH116 - both kinds of path
        _check_kind(path, info, takes_folders=takes_folders)
        descriptor = os.open(path, flags | (0 if follows_links else os.O_NOFOLLOW))
    except ValueError as error:  # a name with a zero character
        raise OSError(errno.EINVAL, str(error), str(path)) from error
    try:
        _check_kind(path, os.fstat(descriptor), takes_folders=takes_folders)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_foreign_text(path: str | Path) -> io.TextIOWrapper:
    """Opens a table as `open_foreign` does, in UTF-8, with line ends as they are."""
    return io.TextIOWrapper(open_foreign(path), encoding="utf-8", newline="")


def read_foreign(path: str | Path, max_bytes: int, *, follows_links: bool = True) -> bytes:
    """All of a regular file; raises OSError as `open_foreign`, and where it is longer than
    `max_bytes`, without reading it.
    """
    with open_foreign(path, follows_links=follows_links) as file:
        if size_of(file) > max_bytes:
            raise _too_long(path, max_bytes)
        # Some of /proc have no size, and a file may grow.
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise _too_long(path, max_bytes)
    return data


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a folder; False for a link in a circle, which is an error of
    its own and not of the others beside it.
    """
    try:
        return entry.is_dir()
    except OSError:
        return False


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a regular file, or a link to one; as `is_folder`."""
    try:
        return entry.is_file()
    except OSError:
        return False


def size_of(file: io.BufferedReader) -> int:
    """The length of an open file in bytes."""
    return os.fstat(file.fileno()).st_size


def _check_kind(path: str | Path, info: os.stat_result, *, takes_folders: bool) -> None:
    if stat.S_ISDIR(info.st_mode):
        if not takes_folders:
            raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file", str(path))
    elif not stat.S_ISREG(info.st_mode):
        words = "it is a link" if stat.S_ISLNK(info.st_mode) else "it is not a regular file"
        raise OSError(errno.EINVAL, words, str(path))


def _too_long(path: str | Path, max_bytes: int) -> OSError:
    return OSError(errno.EFBIG, f"it is longer than {max_bytes:,} bytes", str(path))


# file tail -----------------------------------------------------------------------------------
# The end of a file that others append to.

_STAMP = r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d+: )?"
_CUDA = r"cu[A-Z]|CUDA|cuda|factory|computation_placer"
_NOISE = re.compile(
    rf"{_STAMP}(?:[IW](?:\d{{4}}| ).*|E(?:\d{{4}}| ).*(?:{_CUDA}).*)"
    r"|WARNING: All log messages before absl.*|To enable the following instructions:.*"
)
"""What TensorFlow's libraries print at each start, as of plug-ins registered twice and of a CUDA
that is not there: no reason why a process ended."""


def tail_bytes(path: Path, max_bytes: int) -> bytes:
    """The last bytes of a file; none where it cannot be read."""
    try:
        with open_foreign(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - max_bytes))
            return file.read(max_bytes)
    except OSError:
        return b""


def tail_lines(path: Path, *, max_lines: int, max_bytes: int = 64 * 1024) -> tuple[str, ...]:
    """The last non-empty lines of a text file; nothing where it does not exist."""
    text = tail_bytes(path, max_bytes).decode("utf-8", "replace")
    lines = (re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", line) for line in text.splitlines())
    return tuple([line[:1000] for line in lines if line.strip()][-max_lines:])


def without_noise(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines without what TensorFlow's libraries print at each start."""
    return tuple(line for line in lines if not _NOISE.fullmatch(line))
