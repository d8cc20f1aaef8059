"""Connections to web addresses: every download is made by these.

Addresses of this computer and of its own network (private, loopback, link-local) are contacted
where the user has named them, such as a camera's or a disk server's. No server can lead there: a
redirect is refused by the address that was connected to, whatever its name is.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import string
import urllib.parse
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib import request

MAX_REDIRECTS = 5
"""How often servers may lead elsewhere."""

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_PRIVATE = "its server leads to a private address"
_OTHER_HOST = "its server leads to another computer, and no checksum shows what comes from there"


class Visit:
    """All connections for one address that the user has named, also when it is asked again.

    Args:
        address: The address.
        may_leave_host: A redirect may lead to another host, as a checksum shows what comes.

    Attributes:
        refused: The host that a redirect led to and that was refused; "" for none.
        reason: Why, in words.
        socket: The latest connection.
    """

    def __init__(self, address: str, *, may_leave_host: bool = True) -> None:
        self.address, self._may_leave_host = address, may_leave_host
        self.refused = self.reason = ""
        self.socket: socket.socket | None = None
        self._may_be_private: bool | None = None  # known from the first connection

    def open(self, headers: Mapping[str, str], timeout_s: float) -> Any:
        """The answer to a request; raises OSError, http.client.HTTPException, ValueError."""
        if urllib.parse.urlsplit(self.address).scheme not in {"http", "https"}:
            raise ValueError("not a web address")
        opener = request.OpenerDirector()  # web addresses alone, also where one leads to another
        for handler in (
            request.ProxyHandler(), _Handler(self), _Redirects(self), request.UnknownHandler(),
            request.HTTPDefaultErrorHandler(), request.HTTPErrorProcessor(),
        ):  # fmt: skip
            opener.add_handler(handler)
        asked = request.Request(_encoded(self.address), headers=dict(headers))  # noqa: S310 - checked
        return opener.open(asked, timeout=timeout_s)

    def check_redirect(self, to: str) -> None:
        """Raises OSError where a redirect may not be followed, before anything is contacted."""
        here, there = (urllib.parse.urlsplit(each) for each in (self.address, to))
        if not (self._may_leave_host or _is_same_host(here, there)):
            self._refuse(there.netloc.rpartition("@")[2], _OTHER_HOST)

    def connected(self, opened: socket.socket, host: str, *, is_proxy: bool) -> None:
        """A connection for a host stands, and nothing has been sent yet; refuses private ones that
        the user has not named. A proxy's own address says nothing: of its hosts the name counts.
        """
        self.socket = opened
        is_private = _is_private(host if is_proxy else str(opened.getpeername()[0]))
        if self._may_be_private is None:
            self._may_be_private = is_private
        is_named = host == _host(urllib.parse.urlsplit(self.address))
        # The name may have another address by now: its server decides on that.
        if is_private and not (is_named and self._may_be_private):
            self._refuse(host, _PRIVATE)

    def _refuse(self, host: str, reason: str) -> None:
        self.refused, self.reason = host or "nowhere", reason
        raise OSError(reason)


class _Handler(request.HTTPHandler, request.HTTPSHandler):
    """Opens connections that are looked at before anything is sent."""

    def __init__(self, visit: Visit) -> None:
        super().__init__()
        self._visit = visit

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
            made.looked_at = lambda opened: self._visit.connected(
                opened, _host(wanted), is_proxy=is_proxy
            )
            return made

        found: http.client.HTTPResponse = self.do_open(connection, req)
        return found


class _Redirects(request.HTTPRedirectHandler):
    """Follows without reading what a redirect says: that may be endless."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit

    def redirect_request(  # noqa: PLR0917 - as urllib calls it
        self, req: request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> request.Request | None:
        self._visit.check_redirect(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)

    max_redirections = MAX_REDIRECTS
    max_repeats = 1

    def http_error_302(
        self, req: request.Request, fp: Any, code: int, msg: str, headers: Any
    ) -> Any:
        fp.close()
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


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


def _is_same_host(here: urllib.parse.SplitResult, there: urllib.parse.SplitResult) -> bool:
    """Whether one leads to the other's server: the same name and port, or from http to https."""
    if _host(here) != _host(there):
        return False
    if (here.scheme, there.scheme) == ("http", "https"):
        return here.port in {None, 80} and there.port in {None, 443}
    return here.scheme == there.scheme and here.port == there.port


def _is_private(number: str) -> bool:
    """Whether an address is none of the public internet; a name that is no number is not."""
    name = number.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        with suppress(OSError):  # as sockets read it: 2130706433, 0x7f.1
            return not ipaddress.ip_address(socket.inet_aton(name)).is_global
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not address.is_global
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
    return not address.is_global or any(each is not None and not each.is_global for each in inner)


def _encoded(address: str) -> str:
    """An address as it is sent: letters of any language as browsers write them."""
    parts = urllib.parse.urlsplit(address)
    host = parts.netloc
    if not host.isascii():
        name, colon, port = host.partition(":")
        host = f"{name.encode('idna').decode()}{colon}{port}"
    rest = urllib.parse.urlunsplit(("", "", parts.path, parts.query, ""))
    return f"{parts.scheme}://{host}{urllib.parse.quote(rest, safe=string.punctuation)}"
