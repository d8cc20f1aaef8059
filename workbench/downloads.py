"""Files from the internet: fetched once, checked, kept; the only place that reaches a web server.

A download that breaks off is continued where it was (HTTP ranges), by this call or by the next
one, and another address is tried where there is one. A file appears under its name once its
checksum is right. A process whose file another one is fetching waits for it.

Not by pooch: it unpacks a .gz file whose server sends it as "Content-Encoding: gzip", so that
the checksum no longer fits, and it begins again after a broken connection.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
import urllib.error
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from workbench.core.storage.file_lock import take_lock
from workbench.core.storage.own_file import open_own, refuse_link
from workbench.errors import DownloadError
from workbench.hardware.network_route import has_route

TIMEOUT_S = 20.0
"""How long a silent server is waited for."""

PARTIAL_PREFIX = ".workbench-downloading-"
PARTIAL_AGE_S = 7 * 86_400.0
"""What a download that was never finished has left is kept for so long."""

_CHUNK_BYTES = 256 * 1024
_RETRIES = 2
"""How often in a row one address may break off without a byte before the next one is tried."""

_PAUSE_S = 0.5  # before an address is tried again
_SPARE_BYTES = 256 * 2**20
"""Disk space that a download leaves free."""

_MD5_LENGTH = 32
_NO_MORE = 416  # "range not satisfiable"
_PARTIAL_CONTENT = 206


class Progress(Protocol):
    """Where a download is reported, and what ends it: a LoadContext is one."""

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Reports what is being done; fraction 0..1 where known."""

    def check_cancelled(self) -> None:
        """Raises the caller's own cancel exception when the user has canceled."""


@dataclass(frozen=True)
class Download:
    """One file on the internet.

    Attributes:
        title: Words for people, e.g. "CIFAR-10".
        address: Where it is.
        checksum: sha256, or md5 (32 digits) where its makers publish no other; "" where nobody
            knows it: such a file is fetched again in each call of `fetch_unknown`.
        keras_name: Name under which Keras keeps it in its cache.
        mirrors: Further addresses of the same file, tried in this order.
        num_bytes: Its size, said before it is downloaded; 0 where it is not known.
        kind: Keras's folder for it: "datasets", "models".
    """

    title: str
    address: str
    checksum: str
    keras_name: str = ""
    mirrors: tuple[str, ...] = ()
    num_bytes: int = 0
    kind: str = "datasets"

    @property
    def file_name(self) -> str:
        """The name at the end of the address."""
        return urllib.parse.urlsplit(self.address).path.rsplit("/", 1)[-1]

    @property
    def kept_name(self) -> str:
        """The name under which it is kept."""
        return self.keras_name or self.file_name

    def is_kept(self) -> bool:
        """Whether Keras's folder has a file of its name; whether that is right, `fetch` finds."""
        return any((keras_folder(self.kind) / name).is_file() for name in self.kept_names)

    def has_route(self) -> bool:
        """False where it is certain that none of its addresses can be reached now."""
        return any(has_route(address) for address in (self.address, *self.mirrors))

    @property
    def kept_names(self) -> tuple[str, ...]:
        """Names under which it may be kept, the best first."""
        return tuple(dict.fromkeys((self.kept_name, self.file_name)))


def keras_folder(kind: str = "datasets") -> Path:
    """Where Keras keeps files of a kind, "datasets" or "models": below ~/.keras or KERAS_HOME."""
    home = os.environ.get("KERAS_HOME")
    return (Path(home) if home else Path("~/.keras").expanduser()) / kind


def fetch(download: Download, folder: Path, ctx: Progress) -> Path:
    """The file in `folder`, where it is already there and right, or else from the internet.

    Raises:
        DownloadError: no connection, rejected by the server, or a wrong checksum.
        LinkFoundError: a link has the file's name.
    """
    found = _kept(download, folder, ctx)
    if found is not None:
        return found
    with _stored_in(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _remove_old_partials(folder)
        partial = folder / f"{PARTIAL_PREFIX}{download.checksum[:16]}"
        with _locked(partial, download, ctx) as descriptor:
            # Another process may have finished it while its lock was waited for.
            found = _kept(download, folder, ctx)
            if found is None:
                with os.fdopen(os.dup(descriptor), "rb+") as file:
                    _Transfer(download, file, folder, ctx).run()
                found = folder / download.kept_name
                refuse_link(found)
                partial.replace(found)
            else:
                partial.unlink(missing_ok=True)
    return found


def fetch_unknown(download: Download, path: Path, ctx: Progress, *, max_bytes: int) -> None:
    """Fetches a file whose checksum nobody knows into the new file `path`, with at most
    `max_bytes`; what is incomplete is removed.

    Raises:
        DownloadError: as `fetch`, or it is larger.
        LinkFoundError: a link has the file's name.
    """
    with _stored_in(path.parent):
        descriptor = open_own(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        try:
            with os.fdopen(descriptor, "rb+") as file:
                _Transfer(download, file, path.parent, ctx, max_bytes).run()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def host_of(address: str) -> str:
    """The computer that an address names, with its port where it names one."""
    return urllib.parse.urlsplit(address).netloc.rpartition("@")[2]


def _kept(download: Download, folder: Path, ctx: Progress) -> Path | None:
    for name in download.kept_names:
        path = folder / name
        if path.is_file():
            ctx.progress(f"Checking {download.title}")
            with path.open("rb") as file:
                if _checksum(file, download, ctx) == download.checksum:
                    return path
    return None


@contextlib.contextmanager
def _locked(partial: Path, download: Download, ctx: Progress) -> Iterator[int]:
    """The partial file, open and locked for this process alone."""
    while True:
        descriptor = take_lock(partial, wait_s=0.2)
        if descriptor is None:
            ctx.check_cancelled()
            ctx.progress(f"Another process is downloading {download.title}")
            continue
        if _is_at(descriptor, partial):
            break
        os.close(descriptor)  # finished and renamed by its owner while it was waited for
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


class _BrokenOffError(Exception):
    """An address did not give the file: what was `received`, and the `cause` in words."""

    def __init__(self, received: str, cause: str) -> None:
        super().__init__(received)
        self.received, self.cause = received, cause


class _RefusedError(_BrokenOffError):
    """The server has answered, and asking again would not help."""


class _WrongError(_BrokenOffError):
    """What came is another file; it has been emptied."""


class _Transfer:
    """Brings a file from the first of its addresses that gives it."""

    def __init__(
        self,
        download: Download,
        file: Any,
        folder: Path,
        ctx: Progress,
        max_bytes: int | None = None,
    ) -> None:
        self._download, self._file, self._folder, self._ctx = download, file, folder, ctx
        self._max_bytes = max_bytes
        self._validator = ""  # of the file at the address that is read, to continue it safely

    def run(self) -> None:
        """Reads until the file is complete and right; raises DownloadError where no address
        gives it.
        """
        errors: list[_BrokenOffError] = []
        for address in (self._download.address, *self._download.mirrors):
            try:
                self._read_checked(address)
            except _BrokenOffError as error:
                errors.append(error)
            else:
                return
        raise _failed(self._download, self._folder, errors[0].received, errors[0].cause)

    def _read_checked(self, address: str) -> None:
        self._validator = ""
        was_begun = self._size() > 0
        self._read_with_retries(address)
        try:
            self._check()
        except _WrongError:
            if not was_begun:
                raise
            self._read_with_retries(address)  # from its start: what was there was of another file
            self._check()

    def _check(self) -> None:
        self._file.flush()
        if not self._download.checksum:
            return
        self._file.seek(0)
        received = _checksum(self._file, self._download, self._ctx)
        if received != self._download.checksum:
            self._file.truncate(0)
            raise _WrongError(f"checksum {received}", "the file is damaged or has changed")
        os.fsync(self._file.fileno())

    def _size(self) -> int:
        return int(self._file.seek(0, os.SEEK_END))

    def _read_with_retries(self, address: str) -> None:
        failures = 0
        while True:
            before = self._size()
            try:
                self._read(address)
            except _BrokenOffError as error:
                failures = 0 if self._size() > before else failures + 1
                if isinstance(error, _RefusedError) or failures > _RETRIES or not self._may_go_on():
                    raise
                self._pause()
            else:
                return

    def _may_go_on(self) -> bool:
        """Whether what has come so far can be continued; the checksum shows it in the end, or the
        server by the validator it has given.
        """
        return bool(self._download.checksum or self._validator)

    def _pause(self) -> None:
        until = time.monotonic() + _PAUSE_S
        while time.monotonic() < until:
            self._ctx.check_cancelled()
            time.sleep(_PAUSE_S / 10)

    def _read(self, address: str) -> None:
        """One request, from the end of what is there."""
        import http.client  # noqa: PLC0415 - the window reads SPECs and never downloads

        start = self._size()
        self._ctx.progress(f"Connecting to {host_of(address)}")
        try:
            with _open(address, start, self._validator) as answer:
                self._receive(answer, start)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == _NO_MORE and start:
                self._restart(address)
                return
            raise _RefusedError(
                f"HTTP status {error.code}", "the server refused the request"
            ) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            cause = "the connection was lost" if self._size() > start else "no connection"
            raise _BrokenOffError(str(reason) or type(error).__name__, cause) from None

    def _restart(self, address: str) -> None:
        """Where a server has nothing after what is there: that may be the whole file."""
        with contextlib.suppress(_WrongError):
            self._check()
        if not self._size():
            self._read(address)

    def _receive(self, answer: Any, start: int) -> None:
        if start and not _continues(answer, start):
            self._file.truncate(0)
            start = 0
        self._file.seek(start)
        self._validator = _validator(answer)
        rest = int(answer.headers.get("Content-Length") or 0)
        total = start + rest if rest else 0
        self._check_size(total, rest)
        done = start
        while piece := answer.read(_CHUNK_BYTES):
            self._ctx.check_cancelled()
            with _stored_in(self._folder):
                self._file.write(piece)
            done += len(piece)
            self._check_size(done, 0)
            self._ctx.progress(*_words(self._download, done, total))
        self._file.flush()
        if done < total:
            raise _BrokenOffError(f"{done:,} of {total:,} bytes", "the connection was lost")

    def _check_size(self, size: int, needed: int) -> None:
        if self._max_bytes is not None and size > self._max_bytes:
            raise DownloadError(
                f"{self._download.title} is too large.",
                where=self._download.address,
                received=f"at least {size:,} bytes",
                expected=f"at most {self._max_bytes:,} bytes",
            )
        if needed and shutil.disk_usage(self._folder).free < needed + _SPARE_BYTES:
            raise DownloadError(
                f"Not enough disk space to download {self._download.title}.",
                where=str(self._folder),
                received=f"{needed:,} bytes",
                fix="Free some space, or set KERAS_HOME to a folder on another disk.",
            )


def _open(address: str, start: int, validator: str) -> Any:
    from urllib import request  # noqa: PLC0415 - as above

    if urllib.parse.urlsplit(address).scheme not in {"http", "https"}:
        raise ValueError("not a web address")
    headers = {"User-Agent": "model-workbench", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
        headers |= {"If-Range": validator} if validator else {}
    opener = request.OpenerDirector()  # web addresses alone, also where one leads to another
    for handler in (
        request.ProxyHandler, request.HTTPHandler, request.HTTPSHandler, request.UnknownHandler,
        request.HTTPRedirectHandler, request.HTTPDefaultErrorHandler, request.HTTPErrorProcessor,
    ):  # fmt: skip
        opener.add_handler(handler())
    return opener.open(request.Request(address, headers=headers), timeout=TIMEOUT_S)  # noqa: S310 - checked above


def _continues(answer: Any, start: int) -> bool:
    """Whether an answer begins at the byte that was asked for."""
    found = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range") or "")
    return answer.status == _PARTIAL_CONTENT and found is not None and int(found[1]) == start


def _validator(answer: Any) -> str:
    """What names this version of the file, "" where the server gives nothing strong."""
    tag = answer.headers.get("ETag") or ""
    return "" if tag.startswith("W/") else str(tag)


def _words(download: Download, done: int, total: int) -> tuple[str, float | None]:
    words = f"Downloading {download.title}: {done / 1e6:,.1f}"
    if not total:
        return f"{words} MB", None
    return f"{words} of {total / 1e6:,.1f} MB", min(1.0, done / total)


def _checksum(file: Any, download: Download, ctx: Progress) -> str:
    is_md5 = len(download.checksum) == _MD5_LENGTH
    digest = hashlib.md5(usedforsecurity=False) if is_md5 else hashlib.sha256()
    while piece := file.read(1 << 22):
        ctx.check_cancelled()
        digest.update(piece)
    return digest.hexdigest()


def _remove_old_partials(folder: Path) -> None:
    for path in folder.glob(f"{PARTIAL_PREFIX}*"):
        with contextlib.suppress(OSError):  # another process has just finished it
            if time.time() - path.lstat().st_mtime > PARTIAL_AGE_S:
                path.unlink()


@contextlib.contextmanager
def _stored_in(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DownloadError(
            f"The download could not be stored: {error.strerror or error}.",
            where=str(folder),
            fix="Free some space, or set KERAS_HOME to another folder.",
        ) from error


def _failed(download: Download, folder: Path, received: str, cause: str) -> DownloadError:
    by_hand = (
        f", or copy {download.file_name} from {download.address} into {folder}"
        if download.checksum
        else ""
    )
    return DownloadError(
        f"{download.title} could not be downloaded: {cause}.",
        where=download.address,
        received=received,
        expected=f"a connection to {host_of(download.address)}, once; afterwards it works offline",
        fix=f"Connect to the internet and try again{by_hand}.",
    )
