"""A safe reader of .npz files: headers first, never pickle, flat memory.

What a file declares is compared with what it holds and with the free disk space before
anything is unpacked, so that a tiny hostile file cannot fill memory or disk.
"""

from __future__ import annotations

import ast
import lzma
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from workbench.core.storage.foreign_file import open_foreign
from workbench.errors import DatasetError

MAX_MEMBERS = 1000
MAX_HEADER_BYTES = 10_000
_SPARE_BYTES = 256 * 2**20
"""Disk space that unpacking leaves free."""

_CHUNK_BYTES = 4 * 2**20
_BAD_ZIP = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError,
    NotImplementedError, RuntimeError, EOFError, OSError, ValueError,
)  # fmt: skip


@dataclass(frozen=True)
class Member:
    """One array of the file, as its header declares it."""

    name: str
    file_name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    data_bytes: int

    def words(self) -> str:
        """Name, type and shape, for messages."""
        return f"{self.name} {self.dtype} {self.shape}"


def read_members(path: Path) -> dict[str, Member]:
    """The arrays of an npz file by name, without reading their data.

    Raises:
        DatasetError: not a zip file, or a member that is not a plain array.
    """
    try:
        with open_foreign(path) as opened, zipfile.ZipFile(opened) as file:
            infos = [info for info in file.infolist() if info.filename.endswith(".npy")]
            if len(infos) > MAX_MEMBERS:
                raise _refused(path, f"{len(infos):,} arrays", f"at most {MAX_MEMBERS:,}")
            found = [_member(file, info, path) for info in infos]
    except FileNotFoundError:
        raise DatasetError(
            "There is no such file.", where=str(path), expected="an .npz file from NumPy"
        ) from None
    except _BAD_ZIP as error:
        raise _refused(path, _plain(str(error)), "an .npz file written by numpy.savez") from None
    return {member.name: member for member in found}


def _member(file: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> Member:
    where = f"{path}, {_plain(info.filename)}"
    with file.open(info) as stream:
        header, header_bytes = _header(stream, where)
    try:
        shape, descr = header["shape"], header["descr"]
        is_fortran = bool(header["fortran_order"])
        dtype = _dtype(descr)
        is_shape = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
    except (KeyError, TypeError, ValueError):
        raise _refused(where, "a header that NumPy did not write", "a NumPy array") from None
    if dtype.hasobject or dtype.kind not in "buifSU":
        raise _refused_kind(dtype, where)
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize if is_shape else -1
    if size != info.file_size - header_bytes:
        declared = f"an array {shape} of {dtype}"
        raise _refused(
            where, f"{declared} in {info.file_size:,} bytes", "as many bytes as declared"
        )
    name = _plain(info.filename.removesuffix(".npy"))
    return Member(name, info.filename, shape, dtype, is_fortran, size)


def _dtype(descr: Any) -> np.dtype[Any]:
    """The type that a header declares; of several fields, that of raw bytes, or of objects."""
    if isinstance(descr, str):
        return np.dtype(descr)
    return np.dtype("O" if "O" in re.findall(r"'[|<>=]?(\w)", str(descr)) else "V1")


def _refused_kind(dtype: np.dtype[Any], where: str) -> DatasetError:
    if dtype.hasobject:
        return DatasetError(
            "The file contains Python objects, which could run code and are never loaded.",
            where=where,
            received=_plain(str(dtype)),
            expected="numbers or text",
            fix='Convert them before saving, for example with array.astype("uint8") or '
            "array.astype(str).",
        )
    kind = next((words for name, words in _OTHERS.items() if dtype.name.startswith(name)), "")
    return DatasetError(
        f"The file contains an array of {kind or dtype.name}.",
        where=where,
        received=_plain(str(dtype)),
        expected="numbers or text",
        fix="Convert it before saving, for example with array.astype(str), or leave it out.",
    )


_OTHERS = {
    "complex": "complex numbers",
    "datetime": "dates",
    "timedelta": "durations",
    "void": "several fields",
}
"""Arrays that are neither images nor labels, by the names of their types."""


def _header(stream: IO[bytes], where: str) -> tuple[dict[str, Any], int]:
    """The header of an .npy stream and the bytes up to the data."""
    start = stream.read(8)
    if start[:6] != b"\x93NUMPY" or len(start) < 8 or start[6] not in {1, 2, 3}:
        raise _refused(where, "no NumPy header", "a NumPy array")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(stream.read(width), "little")
    if length > MAX_HEADER_BYTES:
        raise _refused(where, f"a header of {length:,} bytes", f"at most {MAX_HEADER_BYTES:,}")
    try:
        header = ast.literal_eval(stream.read(length).decode("latin-1").strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise _refused(where, "a damaged header", "a NumPy array")
    return header, 8 + width + length


def check_space(path: Path, members: list[Member], folder: Path) -> None:
    """Raises DatasetError when unpacking `members` into `folder` would fill its disk."""
    needed = sum(member.data_bytes for member in members)
    free = shutil.disk_usage(folder).free
    if needed + _SPARE_BYTES > free:
        raise DatasetError(
            "Not enough disk space to unpack the file.",
            where=str(path),
            received=f"{needed:,} bytes unpacked",
            expected=f"at most {max(0, free - _SPARE_BYTES):,} bytes",
            fix="Free some space, or set WORKBENCH_HOME to a folder on another disk.",
        )


def unpack_member(
    path: Path, member: Member, to: Path, on_bytes: Callable[[int], None]
) -> np.ndarray[Any, Any]:
    """Unpacks one array into the .npy file `to` and maps it, read-only.

    `on_bytes` is called with the size of each piece; what it raises ends the unpacking.

    Raises:
        DatasetError: the data is damaged or shorter than declared.
        OSError: `to` could not be written.
    """
    with to.open("wb") as out:
        header = {"descr": member.dtype.str, "fortran_order": member.is_fortran}
        np.lib.format.write_array_header_1_0(out, {**header, "shape": member.shape})
        with (
            open_foreign(path) as opened,
            zipfile.ZipFile(opened) as file,
            file.open(member.file_name) as stream,
        ):
            _header(stream, str(path))
            left = member.data_bytes
            while left:
                piece = _read_piece(stream, min(left, _CHUNK_BYTES), path, member)
                out.write(piece)
                left -= len(piece)
                on_bytes(len(piece))
    if member.data_bytes == 0:
        return np.zeros(member.shape, member.dtype)
    mapped: np.ndarray[Any, Any] = np.load(to, mmap_mode="r", allow_pickle=False)
    return mapped


def _read_piece(stream: IO[bytes], size: int, path: Path, member: Member) -> bytes:
    try:
        piece = stream.read(size)
    except _BAD_ZIP as error:
        raise _refused(f"{path}, {member.name}", _plain(str(error)), "complete data") from None
    if not piece:
        raise _refused(f"{path}, {member.name}", "data that ends early", "complete data")
    return piece


def _refused(where: object, received: str, expected: str) -> DatasetError:
    return DatasetError(
        "The file is damaged or not a NumPy file.",
        where=str(where),
        received=received,
        expected=expected,
        fix="Write it again with numpy.savez_compressed, or copy it again.",
    )


def _plain(text: str) -> str:
    """Names out of a file, without control characters, at most 100 long."""
    return "".join(c if c.isprintable() else "?" for c in text)[:100]
