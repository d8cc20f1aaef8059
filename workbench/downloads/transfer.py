"""Reading a file from its server. What breaks off is continued where it was (HTTP ranges), by this
transfer or by the next one, and another address is tried where there is one.
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
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from workbench.downloads.download import Download, Progress, host_of, reason_words
from workbench.errors import DownloadError, os_errors_as

TIMEOUT_S = 20.0
"""How long a silent server is waited for."""

_CHUNK_BYTES = 256 * 1024
_RETRIES = 2
"""How often in a row one address may break off without a byte before the next one is tried."""

_PAUSE_S = 0.5  # before an address is tried again
_SPARE_BYTES = 256 * 2**20
"""Disk space that a download leaves free."""

_MD5_LENGTH = 32
_NO_MORE = 416  # "range not satisfiable"
_PARTIAL_CONTENT = 206


class _BrokenOffError(Exception):
    """An address did not give the file: what was `received`, and the `cause` in words."""

    def __init__(self, received: str, cause: str) -> None:
        super().__init__(received)
        self.received, self.cause = received, cause


class _RefusedError(_BrokenOffError):
    """The server has answered, and asking again would not help."""


class _WrongError(_BrokenOffError):
    """What came is another file; it has been emptied."""


class Transfer:
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
        from workbench.downloads.opener import Visit  # noqa: PLC0415 - as in `_read`

        # Without a checksum nothing shows what another computer gives in place of this one.
        self._visit = Visit(address, may_leave_host=bool(self._download.checksum))
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
        received = checksum_of(self._file, self._download, self._ctx)
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
        """Makes one request, from the end of what is there."""
        import http.client  # noqa: PLC0415 - the window reads SPECs and never downloads

        start = self._size()
        self._ctx.progress(f"Connecting to {host_of(address)}")
        try:
            with self._visit.open(_headers(start, self._validator), TIMEOUT_S) as answer:
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
            self._refuse_redirect()
            cause = "the connection was lost" if self._size() > start else "no connection"
            raise _BrokenOffError(reason_words(error), cause) from None

    def _refuse_redirect(self) -> None:
        """Raises where the server has led to what may not be contacted."""
        visit = self._visit
        if not visit.refused:
            return
        if self._download.checksum:  # another of its addresses may be right
            raise _RefusedError(f"a redirect to {visit.refused[:200]}", visit.reason) from None
        raise DownloadError(
            f"{self._download.title} was not downloaded: {visit.reason}.",
            where=visit.address,
            received=f"a redirect to {visit.refused[:200]}",
            expected=f"the file itself from {host_of(visit.address)}",
            fix=f"If you know {visit.refused[:200]}, use the address of the file there. Nothing "
            "has been sent to it.",
        ) from None

    def _restart(self, address: str) -> None:
        """Answers HTTP 416: the part file may be complete; verifies it, or else starts over."""
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
            with stored_in(self._folder):
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


def checksum_of(file: Any, download: Download, ctx: Progress) -> str:
    """The checksum of an open file, from where it is, of the kind that the download's own is."""
    is_md5 = len(download.checksum) == _MD5_LENGTH
    digest = hashlib.md5(usedforsecurity=False) if is_md5 else hashlib.sha256()
    while piece := file.read(1 << 22):
        ctx.check_cancelled()
        digest.update(piece)
    return digest.hexdigest()


def stored_in(folder: Path) -> AbstractContextManager[None]:
    """Raises an OSError as a DownloadError that names the folder."""
    fix = "Free some space, or set KERAS_HOME to another folder."
    return os_errors_as(DownloadError, "The download could not be stored.", folder, fix=fix)


def _headers(start: int, validator: str) -> dict[str, str]:
    headers = {"User-Agent": "model-workbench", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
        headers |= {"If-Range": validator} if validator else {}
    return headers


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
