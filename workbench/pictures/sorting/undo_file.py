"""The undo file: a line of JSON for each folder that was made and each image that was placed.

It is beside the class folders, and names what is in them relative to itself: undoing changes
nothing outside, but for putting images back where they were, and never replaces a file there.

It may come from elsewhere, with images that it would put anywhere. Each line that was written here
carries a keyed checksum of itself and of all lines before it; a file with any other line counts as
foreign (`foreign.py`).
"""

from __future__ import annotations

import filecmp
import hashlib
import hmac
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Self

import msgspec

from workbench.core.storage.foreign_file import open_foreign, read_foreign
from workbench.errors import InputError, SaveError, os_errors_as
from workbench.pictures.folders import ENDINGS
from workbench.pictures.portable.signatures import DECODED, HEAD_BYTES, sniff

# place ---------------------------------------------------------------------------------------
# One file to another place: never onto a file that is there, and never half of it.

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE_BYTES = 1 << 20


def new_part_name() -> str:
    """A name that no other file has, for a copy that is not whole yet."""
    return f".workbench-{secrets.token_hex(8)}.part"


def copy_new(source: str | Path, target: Path, part: str) -> None:
    """Copies content, times and permissions to a new file, whole or not at all.

    Args:
        source: The file.
        target: The new file.
        part: Name of the copy, beside `target`, until it is whole; a kill leaves it there.

    Raises:
        FileExistsError: there is a file of that name.
        OSError: it cannot be copied.
    """
    beside = target.with_name(part)
    new = os.open(beside, _NEW, 0o644)
    try:
        with os.fdopen(new, "wb") as write, open_foreign(source) as read:
            shutil.copyfileobj(read, write, _PIECE_BYTES)
            write.flush()
            shutil.copystat(source, beside)
            os.fsync(write.fileno())
        _rename_new(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def move_new(source: str | Path, target: Path, part: str) -> None:
    """Moves a file to a new name; on the same file system without copying. The source is removed
    once the target is there; where that fails, the target is removed. Arguments and errors as of
    `copy_new`.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # another file system, or one without hard links
        copy_new(source, target, part)
        _sync_folder(target.parent)  # before the source is gone from another disk
    try:
        Path(source).unlink()
    except BaseException:
        target.unlink()
        raise


def only_keeps_name(target: Path, part: str, num_bytes: int) -> bool:
    """Whether a file is the empty one by which a copy of so many bytes keeps its name free where
    there are no hard links: a kill leaves it, with the whole copy beside it under the name of its
    part.
    """
    try:
        is_empty = stat.S_ISREG(target.lstat().st_mode) and target.lstat().st_size == 0
        return is_empty and bool(part) and target.with_name(part).lstat().st_size == num_bytes
    except OSError:
        return False


def _rename_new(path: Path, target: Path) -> None:
    try:
        os.link(path, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: an empty file keeps the name free of others
        os.close(os.open(target, _NEW, 0o644))
        try:
            path.replace(target)
        except BaseException:
            target.unlink()
            raise


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# foreign -------------------------------------------------------------------------------------
# What an undo file that was not written by this user on this computer may do: little.
#
# A folder from elsewhere may hold one, with any file beside it under the name of an image and any
# path as the place where it was. Only pictures are put back, into folders that are there and not
# hidden; only copies are deleted whose original has the same content.


def why_not_foreign(source: str, target: Path, *, is_move: bool) -> str:
    """Why an image of a foreign undo file is left alone; "" where it may be taken back.

    Args:
        source: Where it was, as the file says.
        target: Where it is.
        is_move: It is to be put back; else the copy at `target` is to be deleted.

    Raises:
        OSError: it cannot be read.
    """
    if not os.path.isabs(source) or not _is_picture(target, source):  # noqa: PTH117 - many
        return "is no picture"
    if _is_hidden(target):
        return "is in a hidden folder"
    if not is_move:
        return "" if _are_same(Path(source), target) else "is not like its original"
    folder = Path(source).parent
    if os.path.lexists(source):
        return "another file is where it was"
    if not folder.is_dir():
        return "its folder is not there"
    return "its folder is hidden" if _is_hidden(Path(source)) else ""


def _is_picture(target: Path, source: str) -> bool:
    """Whether a file is an image by its content and by both names."""
    with open_foreign(target, follows_links=False) as file:
        kind = sniff(file.read(HEAD_BYTES))
    names = (target.suffix.lower(), PurePosixPath(source).suffix.lower())
    return kind in DECODED and all(name in ENDINGS for name in names)


def _is_hidden(path: Path) -> bool:
    """Whether the file or one of its folders is hidden, also where a link leads."""
    real = Path(os.path.realpath(path.parent)) / path.name
    return any(part.startswith(".") for each in (path, real) for part in each.parts)


def _are_same(source: Path, target: Path) -> bool:
    return source.is_file() and filecmp.cmp(source, target, shallow=False)


# undo file -----------------------------------------------------------------------------------

_VERSION = 1
_MOST_BYTES = 1 << 30
_PART = re.compile(r"\.workbench-[0-9a-f]{16}\.part")


class UndoHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first line.

    Attributes:
        workbench_undo: Version of the format.
        is_move: The images were moved, not copied.
        part: Name of a copy that is not whole yet, in any of the folders; "" where none is.
        nonce: What the key of this file is derived from; "" where it has none.
        seal: See `Line`.
    """

    workbench_undo: int
    is_move: bool
    part: str = ""
    nonce: str = ""
    seal: str = ""


class MadeFolder(msgspec.Struct, frozen=True, kw_only=True, tag="made_folder"):
    """A folder that was made; removed again where it is empty."""

    name: str
    seal: str = ""


class Placed(msgspec.Struct, frozen=True, kw_only=True, tag="image"):
    """An image that was, or was about to be, placed.

    Attributes:
        source: Where it was.
        target: Where it is, relative to the undo file: FOLDER/NAME.
        num_bytes, mtime_ns: Its size and time of change.
    """

    source: str
    target: str
    num_bytes: int
    mtime_ns: int
    seal: str = ""


Line = MadeFolder | Placed
"""`seal` of each is the keyed checksum of the line without it and of the lines before."""

Sealer = Callable[[str], bytes]
"""Nonce of an undo file -> the user's key for it; b"" where there is none."""


class _Chain:
    """The checksums of lines, one after the other; none without a key."""

    def __init__(self, key: bytes) -> None:
        self._key, self._last = key, b""

    def mark(self, line: UndoHeader | Line) -> str:
        """The checksum of the next line."""
        if not self._key:
            return ""
        plain = msgspec.json.encode(msgspec.structs.replace(line, seal=""))
        self._last = hmac.digest(self._key, self._last + plain, hashlib.sha256)
        return self._last[:16].hex()

    def fits(self, line: UndoHeader | Line) -> bool:
        """Whether the next line carries its checksum."""
        mark = self.mark(line)
        return bool(mark) and hmac.compare_digest(mark.encode(), line.seal.encode())


class UndoWriter:
    """A new undo file in a folder; use as a context manager. Each line is there before what it
    describes.

    Attributes:
        path: The file.
        part: See `UndoHeader`.

    Raises:
        SaveError: it cannot be written.
    """

    def __init__(self, into: Path, *, is_move: bool, sealer: Sealer) -> None:
        with os_errors_as(SaveError, "The undo file cannot be written.", into):
            self.path, self._file = _new_file(into)
        self.part, nonce = new_part_name(), secrets.token_hex(16)
        self._chain = _Chain(sealer(nonce))
        self._write(
            UndoHeader(workbench_undo=_VERSION, is_move=is_move, part=self.part, nonce=nonce)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        os.close(self._file)

    def add(self, line: Line) -> None:
        """Writes a line."""
        self._write(line)

    def _write(self, value: UndoHeader | Line) -> None:
        sealed = msgspec.structs.replace(value, seal=self._chain.mark(value))
        data = msgspec.json.encode(sealed) + b"\n"
        with os_errors_as(SaveError, "The undo file cannot be written.", self.path):
            while data:
                data = data[os.write(self._file, data) :]


def _new_file(into: Path) -> tuple[Path, int]:
    stem = time.strftime("undo %Y-%m-%d %H.%M.%S")
    for number in count(1):
        path = into / f"{stem}{f' ({number})' if number > 1 else ''}.jsonl"
        try:
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            continue
    raise AssertionError("there is a free number")


def read_lines(path: Path, sealer: Sealer) -> tuple[UndoHeader, list[Line], bool]:
    """What an undo file says, and whether all of it was written by this user on this computer; a
    line that a kill has torn is left out.

    Raises:
        InputError: it is no undo file, or names something outside of its folder.
    """
    with os_errors_as(InputError, "The undo file cannot be read.", path):
        lines = read_foreign(path, _MOST_BYTES).split(b"\n")[:-1]
    try:
        header = msgspec.json.decode(lines[0], type=UndoHeader)
        rest = [msgspec.json.decode(line, type=Line) for line in lines[1:]]
    except (msgspec.MsgspecError, IndexError) as error:
        raise _not_one(path, str(error)) from None
    if header.workbench_undo != _VERSION:
        raise _not_one(path, f"version {header.workbench_undo}")
    if header.part and not _PART.fullmatch(header.part):
        raise _not_one(path, f"part {header.part!r}"[:300])
    for line in rest:
        if not _is_valid(line):
            raise _not_one(path, f"a path that leads out of the folder: {line!r}"[:300])
    chain = _Chain(sealer(header.nonce) if header.nonce else b"")
    return header, rest, all(map(chain.fits, (header, *rest)))


def _is_valid(line: Line) -> bool:
    """Whether the path is one in the folder, and that of the source can be one at all."""
    name, num_parts = (line.name, 1) if isinstance(line, MadeFolder) else (line.target, 2)
    parts = PurePosixPath(name).parts
    is_inside = len(parts) == num_parts and not {"..", "/"} & set(parts) and "\\" not in name
    source = line.source if isinstance(line, Placed) else ""
    return is_inside and "\0" not in name + source


def _not_one(path: Path, received: str) -> InputError:
    return InputError(
        "This is not an undo file of Workbench.",
        where=str(path),
        received=received,
        expected="a file that `workbench classify --copy-into` or `--move-into` has written",
    )
