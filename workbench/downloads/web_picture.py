"""A picture at any web address, into memory: nobody knows its size, its server or where that leads.

Limits hold for bytes, seconds and redirects, and the download ends at once when it is canceled.
Addresses of this computer and of its own network (private, loopback, link-local) are contacted
where the user has named them, such as a camera's or a disk server's. No server can lead there: a
redirect is refused by the address that was connected to, whatever its name is.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import string
import threading
import time
import urllib.error
import urllib.parse
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib import request

from workbench.downloads.download import Progress, host_of, is_web_address, reason_words
from workbench.errors import DownloadError

MAX_BYTES = 64 * 2**20
"""The largest picture that is taken from the web."""

MAX_REDIRECTS = 5
"""How often servers may lead elsewhere."""

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
        self._socket: socket.socket | None = None
        self._is_over = threading.Event()
        self._is_late = False
        self._cancelled: Exception | None = None
        self._refused = ""
        self._may_be_private: bool | None = None  # known from the first connection

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
        opener = request.OpenerDirector()  # web addresses alone, also where one leads to another
        for handler in (
            request.ProxyHandler(), _Handler(self), _Redirects(), request.UnknownHandler(),
            request.HTTPDefaultErrorHandler(), request.HTTPErrorProcessor(),
        ):  # fmt: skip
            opener.add_handler(handler)
        headers = {
            "User-Agent": "model-workbench",
            "Accept": "image/*",
            "Accept-Encoding": "identity",
        }
        asked = request.Request(_encoded(self._address), headers=headers)  # noqa: S310 - checked
        return opener.open(asked, timeout=min(_CONNECT_S, self._limits.seconds))

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

    # connections ---------------------------------------------------------------------------

    def connected(self, opened: socket.socket, host: str, *, is_proxy: bool) -> None:
        """A connection for a host stands, and nothing has been sent yet; refuses private ones that
        the user has not named. A proxy's own address says nothing: of its hosts the name counts.
        """
        self._socket = opened
        is_private = _is_private(host if is_proxy else str(opened.getpeername()[0]))
        if self._may_be_private is None:
            self._may_be_private = is_private
        is_named = host == _host(urllib.parse.urlsplit(self._address))
        # The name may have another address by now: its server decides on that.
        if is_private and not (is_named and self._may_be_private):
            self._refused = host
            raise OSError("a private address")

    def _watch(self) -> None:
        """Ends a connection that is silent or slow: who reads from it cannot look at the clock."""
        while not self._is_over.wait(_WATCH_S):
            self._is_late = time.monotonic() > self._until
            if (self._is_late or self._is_cancelled()) and self._socket is not None:
                try:
                    self._socket.shutdown(socket.SHUT_RDWR)
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
        if self._refused:
            self._fail(
                "its server leads to a private address", f"a redirect to {self._refused[:200]}"
            )
        if self._is_late or time.monotonic() > self._until:
            self._fail("the server is too slow", f"not complete after {self._limits.seconds:g} s")

    def _fail(self, cause: str, received: str) -> NoReturn:
        raise DownloadError(
            f"The image could not be downloaded: {cause}.",
            where=self._address[:200],
            received=received,
            fix="Check the address, or save the image and open the file.",
        )


class _Handler(request.HTTPHandler, request.HTTPSHandler):
    """Opens connections that are looked at before anything is sent."""

    def __init__(self, reading: _Reading) -> None:
        super().__init__()
        self._reading = reading

    def http_open(self, req: request.Request) -> http.client.HTTPResponse:
        return self._opened(_PlainConnection, req)

    def https_open(self, req: request.Request) -> http.client.HTTPResponse:
        return self._opened(_SecureConnection, req)

    def _opened(
        self, kind: type[_PlainConnection | _SecureConnection], req: request.Request
    ) -> http.client.HTTPResponse:
        wanted = urllib.parse.urlsplit(req.full_url)

        def connection(place: str, **options: Any) -> http.client.HTTPConnection:
            made = kind(place, **options)
            is_proxy = place != urllib.parse.unquote(wanted.netloc)
            made.looked_at = lambda opened: self._reading.connected(
                opened, _host(wanted), is_proxy=is_proxy
            )
            return made

        found: http.client.HTTPResponse = self.do_open(connection, req)
        return found


class _Redirects(request.HTTPRedirectHandler):
    """Follows without reading what a redirect says: that may be endless."""

    max_redirections = MAX_REDIRECTS
    max_repeats = 1

    def http_error_302(
        self, req: request.Request, fp: Any, code: int, msg: str, headers: Any
    ) -> Any:
        fp.close()
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _refusal(error: urllib.error.HTTPError) -> str:
    """Why a server's answer is no picture, in words."""
    if error.msg.startswith(request.HTTPRedirectHandler.inf_msg):
        return "too many redirects"
    is_redirect = 300 <= error.code < 400
    return "its server leads nowhere" if is_redirect else "the server refused the request"


class _PlainConnection(http.client.HTTPConnection):
    looked_at: Any = None

    def connect(self) -> None:
        super().connect()
        self.looked_at(self.sock)


class _SecureConnection(http.client.HTTPSConnection):
    looked_at: Any = None

    def connect(self) -> None:
        super().connect()
        self.looked_at(self.sock)


def _host(parts: urllib.parse.SplitResult) -> str:
    """The host that is connected to: as urllib, with what is written as %31 in its place."""
    return urllib.parse.unquote(parts.hostname or "").lower()


def _is_private(number: str) -> bool:
    """Whether an address is none of the public internet; a name that is no number is not."""
    if number.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(number.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return not (mapped or address).is_global


def _encoded(address: str) -> str:
    """An address as it is sent: letters of any language as browsers write them."""
    parts = urllib.parse.urlsplit(address)
    host = parts.netloc
    if not host.isascii():
        name, colon, port = host.partition(":")
        host = f"{name.encode('idna').decode()}{colon}{port}"
    rest = urllib.parse.urlunsplit(("", "", parts.path, parts.query, ""))
    return f"{parts.scheme}://{host}{urllib.parse.quote(rest, safe=string.punctuation)}"


def _words(address: str, done: int, total: int) -> tuple[str, float | None]:
    words = f"Downloading the image from {host_of(address)}: {done / 1e6:,.1f}"
    if not total:
        return f"{words} MB", None
    return f"{words} of {total / 1e6:,.1f} MB", min(1.0, done / total)
