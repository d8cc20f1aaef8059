"""The archive reader: a short-lived child process, the only code that opens foreign archives.

Run by path (`processes.limited`), with an order as JSON on stdin. It imports nothing of
Workbench and can write no file: what is in the archive goes to stdout in pieces, and its parent
decides what becomes of it.

Order:  {"path", "is_tar", "max_files", "max_bytes", "max_file_bytes", "names_only"}
Answer: frames, each a JSON line with "bytes" and as many bytes:
        {"total"}                          bytes of all files, 0 where that is not known
        {NAME, "is_first", "is_last", "at"}   a piece of a file; how far it is, 0 to 1
        {NAME, "damaged"}                  this file is damaged: its pieces do not count
        {"end", "links", "large"}          numbers of links (and devices) and of too large files
        {"error"}                          why the archive is not read
        NAME is "name" with a text, or "raw" with the bytes, as hexadecimal digits, of a name that
        does not say what it is encoded in, or both where these are UTF-8 at least. With
        "names_only" there are names without pieces.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import stat
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

_PIECE = 1 << 20
_MAX_ORDER_BYTES = 1 << 20
_BAD = (
    zipfile.BadZipFile, zipfile.LargeZipFile, tarfile.TarError, zlib.error, lzma.LZMAError,
    NotImplementedError, RuntimeError, EOFError, OSError, ValueError, OverflowError,
)  # fmt: skip

_IS_UTF8 = 0x800
_UNICODE_PATH = 0x7075
_EXTRA, _PATH = struct.Struct("<HH"), struct.Struct("<BL")

_Frame = tuple[dict[str, Any], bytes]


class _RefusedError(Exception):
    """Words for people why the archive is not read."""


def main() -> int:
    """Reads one order, writes the frames; 0 also when the archive was rejected."""
    order = json.loads(sys.stdin.buffer.read(_MAX_ORDER_BYTES))
    try:
        for fields, data in _frames(order):
            _write(fields, data)
    except _RefusedError as error:
        _write({"error": str(error)})
    except MemoryError:
        _write({"error": "it needs too much memory"})
    except _BAD as error:
        _write({"error": f"it is damaged or cut off ({str(error)[:120]})"})
    sys.stdout.buffer.flush()
    return 0


def _write(fields: dict[str, Any], data: bytes = b"") -> None:
    sys.stdout.buffer.write(json.dumps({**fields, "bytes": len(data)}).encode() + b"\n")
    sys.stdout.buffer.write(data)


def _frames(order: dict[str, Any]) -> Iterator[_Frame]:
    # Without waiting for a pipe.
    descriptor = os.open(order["path"], os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise _RefusedError("it is not a regular file")
        size = max(1, os.fstat(file.fileno()).st_size)
        yield from (_tar_frames(file, size, order) if order["is_tar"] else _zip_frames(file, order))


class _Budget:
    """What an archive may hold at most; counts what it says and what it gives."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._max_files, self._max_bytes = int(order["max_files"]), int(order["max_bytes"])
        self.max_file_bytes = int(order["max_file_bytes"])
        self._files = self._bytes = 0
        self.links = self.large = 0

    def take_file(self) -> None:
        self._files += 1
        if self._files > self._max_files:
            raise _RefusedError(f"it holds more than {self._max_files:,} files")

    def take_bytes(self, count: int) -> None:
        self._bytes += count
        if self._bytes > self._max_bytes:
            raise _RefusedError(
                f"unpacked it is larger than {self._max_bytes:,} bytes, which is far too much for "
                "an archive of its size"
            )

    def end(self) -> _Frame:
        return {"end": True, "links": self.links, "large": self.large}, b""


def _zip_frames(file: IO[bytes], order: dict[str, Any]) -> Iterator[_Frame]:
    budget = _Budget(order)
    with zipfile.ZipFile(file) as archive:
        wanted = [info for info in archive.infolist() if _is_wanted(info, budget)]
        total = sum(info.file_size for info in wanted)
        budget.take_bytes(total)
        yield {"total": total}, b""
        done = 0
        for info in wanted:
            done += info.file_size
            name = _zip_name(info)
            if order["names_only"]:
                yield name, b""
                continue
            try:
                with archive.open(info) as opened:
                    yield from _pieces(name, opened, info.file_size, done / max(1, total))
            except _BAD as error:
                yield {**name, "damaged": str(error)[:200]}, b""
    yield budget.end()


def _zip_name(info: zipfile.ZipInfo) -> dict[str, Any]:
    """The name of a file: as text where it is ASCII or UTF-8 by what its headers say."""
    if info.flag_bits & _IS_UTF8:
        return {"name": info.filename}
    # zipfile has decoded it as CP437, which has a letter for each byte.
    raw = info.orig_filename.encode("cp437", "replace").split(b"\0")[0]
    if raw.isascii():
        return {"name": info.filename}
    unicode = _unicode_path(info.extra, raw)
    return {"name": unicode} if unicode else {"raw": raw.hex()}


def _unicode_path(extra: bytes, raw: bytes) -> str:
    """The name in the extra field of Info-ZIP for it (0x7075), which counts for the bytes `raw`; ""
    where there is none.
    """
    while len(extra) >= _EXTRA.size:
        kind, size = _EXTRA.unpack_from(extra)
        field, extra = extra[_EXTRA.size : _EXTRA.size + size], extra[_EXTRA.size + size :]
        if kind == _UNICODE_PATH and len(field) > _PATH.size:
            version, checksum = _PATH.unpack_from(field)
            if version == 1 and checksum == zlib.crc32(raw):
                return field[_PATH.size :].decode("utf-8", "replace")
    return ""


def _is_wanted(info: zipfile.ZipInfo, budget: _Budget) -> bool:
    budget.take_file()
    if info.flag_bits & 1:
        raise _RefusedError("it is encrypted: unpack it with its password first")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.is_dir() or kind == stat.S_IFDIR:
        return False
    if kind not in {0, stat.S_IFREG}:
        budget.links += 1
        return False
    if info.file_size > budget.max_file_bytes:
        budget.large += 1
        return False
    return True


def _tar_frames(file: IO[bytes], size: int, order: dict[str, Any]) -> Iterator[_Frame]:
    budget = _Budget(order)
    yield {"total": 0}, b""
    # "r:*", which seeks: the stream modes follow what a header says without end.
    with tarfile.open(fileobj=file, mode="r:*") as archive:
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # else all headers stay in memory
            budget.take_file()
            budget.take_bytes(max(0, member.size))
            if member.isdir():
                continue
            if not member.isreg() or member.issparse():
                budget.links += 1
            elif member.size > budget.max_file_bytes:
                budget.large += 1
            elif order["names_only"]:
                yield _tar_name(member), b""
            else:
                opened = archive.extractfile(member)
                at = min(1.0, file.tell() / size)
                yield from _pieces(_tar_name(member), opened or io.BytesIO(), member.size, at)
    yield budget.end()


def _tar_name(member: tarfile.TarInfo) -> dict[str, Any]:
    """The name of a file: with its bytes where it is not ASCII and no header says that it is UTF-8,
    and only these where they are no UTF-8.
    """
    raw = member.name.encode("utf-8", "surrogateescape")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"raw": raw.hex()}
    is_said = raw.isascii() or "path" in member.pax_headers
    return {"name": text} if is_said else {"name": text, "raw": raw.hex()}


def _pieces(name: dict[str, Any], opened: IO[bytes], size: int, at: float) -> Iterator[_Frame]:
    """A file in pieces, the last of which is marked; an empty file is one empty piece."""
    left, is_first = size, True
    while True:
        data = opened.read(min(left, _PIECE)) if left else opened.read(1)[:0]
        if left and not data:
            raise EOFError(f"{next(iter(name.values()))[:80]!r} ends early")
        left -= len(data)
        fields = {**name, "is_first": is_first, "is_last": not left, "at": round(at, 4)}
        yield fields, data
        is_first = False
        if not left:
            opened.read(1)  # the end, where zip files are compared with their checksum
            return


if __name__ == "__main__":
    sys.exit(main())
