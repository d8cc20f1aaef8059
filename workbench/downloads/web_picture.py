"""A picture at any web address, into memory: nobody knows its size, its server or where that leads.

Limits hold for bytes, seconds and redirects, and the download ends at once when it is canceled. Who
is connected to is decided in `opener`.
"""

from __future__ import annotations

import http.client
import socket
import threading
import time
import urllib.error
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib import request

from workbench.downloads.download import Progress, host_of, is_web_address, reason_words
from workbench.downloads.opener import Visit
from workbench.errors import DownloadError

MAX_BYTES = 64 * 2**20
"""The largest picture that is taken from the web."""

_CHUNK_BYTES = 64 * 1024
_WATCH_S = 0.1
"""How long a download goes on at most after it was canceled."""

_CONNECT_S = 20.0  # how long a silent server is waited for


@dataclass(frozen=True)
class Limits:
    """How far a download may go.

    Attributes:
        num_bytes: The size of the picture.
        seconds: From the first connection to the last byte.
    """

    num_bytes: int = MAX_BYTES
    seconds: float = 60.0


def read_web_picture(address: str, ctx: Progress, limits: Limits | None = None) -> bytes:
    """The bytes at a web address; whether they are a picture is shown by decoding them.

    Args:
        address: Begins with http:// or https://.
        ctx: Where progress is reported, and what cancels.
        limits: Those of pictures by default.

    Raises:
        DownloadError: no such address, no connection, refused, or beyond a limit.
    """
    if not is_web_address(address):
        raise DownloadError(
            "This is not a web address that can be downloaded.",
            where=address[:200],
            expected="http:// or https://, without a user name",
        )
    return _Reading(address, ctx, limits or Limits()).run()


class _Reading:
    """One such download: in this thread; a second one watches over time and cancellation."""

    def __init__(self, address: str, ctx: Progress, limits: Limits) -> None:
        self._address, self._ctx, self._limits = address, ctx, limits
        self._until = time.monotonic() + limits.seconds
        self._visit = Visit(address)
        self._is_over = threading.Event()
        self._is_late = False
        self._cancelled: Exception | None = None

    def run(self) -> bytes:
        self._ctx.check_cancelled()
        self._ctx.progress(f"Connecting to {host_of(self._address)}")
        watch = threading.Thread(target=self._watch, name="watch a download", daemon=True)
        watch.start()
        try:
            with self._open() as answer:
                data = self._receive(answer)
            self._check()  # a connection that the watch has ended looks like the end of the picture
        except urllib.error.HTTPError as error:
            error.close()
            self._check()
            self._fail(_refusal(error), f"HTTP status {error.code}")
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._check()
            self._fail("no connection", reason_words(error))
        finally:
            self._is_over.set()
            watch.join()
        return data

    def _open(self) -> Any:
        headers = {
            "User-Agent": "model-workbench",
            "Accept": "image/*",
            "Accept-Encoding": "identity",
        }
        return self._visit.open(headers, min(_CONNECT_S, self._limits.seconds))

    def _receive(self, answer: Any) -> bytes:
        total = int(answer.headers.get("Content-Length") or 0)
        self._check_size(total)
        data = bytearray()
        while piece := answer.read1(_CHUNK_BYTES):
            data += piece
            self._check()
            self._check_size(len(data))
            self._ctx.progress(*_words(self._address, len(data), total))
        if len(data) < total:
            self._check()
            self._fail("the connection was lost", f"{len(data):,} of {total:,} bytes")
        return bytes(data)

    def _check_size(self, size: int) -> None:
        if size > self._limits.num_bytes:
            raise DownloadError(
                "The image is too large.",
                where=self._address[:200],
                received=f"at least {size:,} bytes",
                expected=f"at most {self._limits.num_bytes:,} bytes",
            )

    def _watch(self) -> None:
        """Ends a connection that is silent or slow: who reads from it cannot look at the clock."""
        while not self._is_over.wait(_WATCH_S):
            self._is_late = time.monotonic() > self._until
            if (self._is_late or self._is_cancelled()) and self._visit.socket is not None:
                try:
                    self._visit.socket.shutdown(socket.SHUT_RDWR)
                except OSError:  # it is closed, or not connected any more
                    continue

    def _is_cancelled(self) -> bool:
        try:
            self._ctx.check_cancelled()
        except Exception as error:  # noqa: BLE001 - the caller's own, raised in its thread
            self._cancelled = error
        return self._cancelled is not None

    def _check(self) -> None:
        if self._is_cancelled() and self._cancelled is not None:
            raise self._cancelled
        if self._visit.refused:
            self._fail(self._visit.reason, f"a redirect to {self._visit.refused[:200]}")
        if self._is_late or time.monotonic() > self._until:
            self._fail("the server is too slow", f"not complete after {self._limits.seconds:g} s")

    def _fail(self, cause: str, received: str) -> NoReturn:
        raise DownloadError(
            f"The image could not be downloaded: {cause}.",
            where=self._address[:200],
            received=received,
            fix="Check the address, or save the image and open the file.",
        )


def _refusal(error: urllib.error.HTTPError) -> str:
    """Why a server's answer is no picture, in words."""
    if error.msg.startswith(request.HTTPRedirectHandler.inf_msg):
        return "too many redirects"
    is_redirect = 300 <= error.code < 400
    return "its server leads nowhere" if is_redirect else "the server refused the request"


def _words(address: str, done: int, total: int) -> tuple[str, float | None]:
    words = f"Downloading the image from {host_of(address)}: {done / 1e6:,.1f}"
    if not total:
        return f"{words} MB", None
    return f"{words} of {total / 1e6:,.1f} MB", min(1.0, done / total)
