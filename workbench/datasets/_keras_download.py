"""Data sets that Keras downloads: the same addresses, files, checksums and folder.

The one seam to the internet. A file that Keras has already fetched is used as it is; one
fetched here is found by Keras. Unlike Keras's own routine it reports progress, can be
canceled, and unpacks nothing onto the disk: members are read in memory, by name.

Not by pooch: it unpacks a .gz file whose server sends it as "Content-Encoding: gzip", so that
the checksum no longer fits, and what a killed download leaves has a name like any other file's.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.error
import urllib.parse
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.core.specs import LoadContext
from workbench.core.storage.own_file import refuse_link
from workbench.errors import DatasetError
from workbench.pictures.store import remove_leftovers

TIMEOUT_S = 20.0
"""How long a silent server is waited for."""

_CHUNK_BYTES = 256 * 1024
_TEMPORARY = ".workbench-downloading-"
MAX_MEMBER_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Download:
    """One file on the internet.

    Attributes:
        title: Words for people, e.g. "CIFAR-10".
        address: Where it is.
        checksum: sha256, or md5 (32 digits) where its makers publish no other.
        keras_name: Name under which Keras keeps it in its cache.
    """

    title: str
    address: str
    checksum: str
    keras_name: str = ""

    @property
    def file_name(self) -> str:
        """The name at the end of the address."""
        return self.address.rsplit("/", 1)[-1]


def keras_folder() -> Path:
    """Where Keras keeps its data sets: ~/.keras/datasets, or below KERAS_HOME."""
    home = os.environ.get("KERAS_HOME")
    return (Path(home) if home else Path("~/.keras").expanduser()) / "datasets"


def fetch(ctx: LoadContext, download: Download) -> Path:
    """The file, from Keras's folder or else from the internet.

    Raises:
        DatasetError: no connection, rejected by the server, or a wrong checksum.
        LinkFoundError: a link has the file's name.
    """
    for name in (download.keras_name, download.file_name):
        path = keras_folder() / name
        if name and path.is_file():
            ctx.progress(f"Checking {download.title}")
            if _checksum(path, download, ctx) == download.checksum:
                return path
    path = keras_folder() / (download.keras_name or download.file_name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path.parent, _TEMPORARY)
        handle, name = tempfile.mkstemp(prefix=_TEMPORARY, dir=path.parent)
    except OSError as error:
        raise _not_written(path, error) from error
    temporary = Path(name)
    try:
        _download(ctx, download, handle)
        received = _checksum(temporary, download, ctx)
        if received != download.checksum:
            raise _failed(download, f"checksum {received}", "the file is damaged or has changed")
        refuse_link(path)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _download(ctx: LoadContext, download: Download, handle: int) -> None:
    import http.client  # noqa: PLC0415 - the window reads SPECs and never downloads

    ctx.progress(f"Connecting to {_host(download)}")
    try:
        with os.fdopen(handle, "wb") as file, _open(download.address) as answer:
            total = int(answer.headers.get("Content-Length") or 0)
            done = 0
            while piece := answer.read(_CHUNK_BYTES):
                ctx.check_cancelled()
                _write(file, piece)
                done += len(piece)
                ctx.progress(*_progress_of(download, done, total))
            if total and done < total:
                raise _failed(download, f"{done:,} of {total:,} bytes", "the connection was lost")
    except urllib.error.HTTPError as error:
        error.close()
        raise _failed(
            download, f"HTTP status {error.code}", "the server refused the request"
        ) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise _failed(download, str(reason), "no connection") from None


def _open(address: str) -> Any:
    from urllib.request import Request, urlopen  # noqa: PLC0415 - as above

    if urllib.parse.urlsplit(address).scheme not in {"http", "https"}:
        raise ValueError("not a web address")
    request = Request(address, headers={"User-Agent": "model-workbench"})  # noqa: S310 - checked above
    return urlopen(request, timeout=TIMEOUT_S)  # noqa: S310 - checked above


def _write(file: Any, piece: bytes) -> None:
    try:
        file.write(piece)
    except OSError as error:
        raise _not_written(keras_folder(), error) from error


def _progress_of(download: Download, done: int, total: int) -> tuple[str, float | None]:
    words = f"Downloading {download.title}: {done / 1e6:,.1f}"
    if not total:
        return f"{words} MB", None
    return f"{words} of {total / 1e6:,.1f} MB", min(1.0, done / total)


def _checksum(path: Path, download: Download, ctx: LoadContext) -> str:
    is_md5 = len(download.checksum) == 32
    digest = hashlib.md5(usedforsecurity=False) if is_md5 else hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 22):
            ctx.check_cancelled()
            digest.update(piece)
    return digest.hexdigest()


def _host(download: Download) -> str:
    return urllib.parse.urlsplit(download.address).netloc


def _failed(download: Download, received: str, cause: str) -> DatasetError:
    name = download.file_name
    return DatasetError(
        f"{download.title} could not be downloaded: {cause}.",
        where=download.address,
        received=received,
        expected=f"a connection to {_host(download)}, once; afterwards it works offline",
        fix=f"Connect to the internet and try again, or copy {name} into {keras_folder()}.",
    )


def _not_written(path: Path, error: OSError) -> DatasetError:
    return DatasetError(
        f"The download could not be stored: {error.strerror}.",
        where=str(path),
        fix="Free some space, or set KERAS_HOME to another folder.",
    )


def read_tar_members(path: Path, names: Collection[str]) -> dict[str, bytes]:
    """Regular files of a tar archive by their full names, read in memory; nothing is extracted.

    Raises:
        DatasetError: damaged, a member is missing, or larger than MAX_MEMBER_BYTES.
    """
    import tarfile  # noqa: PLC0415 - as above

    found: dict[str, bytes] = {}
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                if member.name not in names or not member.isreg():
                    continue
                if member.size > MAX_MEMBER_BYTES:
                    raise _bad_archive(path, f"{member.name} of {member.size:,} bytes")
                opened = archive.extractfile(member)
                found[member.name] = opened.read() if opened else b""
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError) as error:
        raise _bad_archive(path, str(error)) from error
    missing = sorted(set(names) - found.keys())
    if missing:
        raise _bad_archive(path, "no " + ", ".join(missing))
    return found


def _bad_archive(path: Path, received: str) -> DatasetError:
    return DatasetError(
        "The downloaded archive is damaged.",
        where=str(path),
        received=received,
        fix="Delete it, so that it is downloaded again.",
    )
