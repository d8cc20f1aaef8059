"""What a file on the internet is: its addresses, its checksum and the names it is kept under."""

from __future__ import annotations

import ipaddress
import os
import socket
import urllib.error
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import http.client  # the window reads SPECs and never downloads


# network route -------------------------------------------------------------------------------
# Whether this computer has a way to an address at all: asked of the kernel, not of the network.

_PROXIES = ("http_proxy", "https_proxy", "all_proxy")

_FAR = ("192.0.2.1", "2001:db8::1")
"""Addresses for documentation (RFC 5737, RFC 3849): any address that is not near."""

_DISCARD_PORT = 9


def has_route(address: str) -> bool:
    """False where it is certain that a web address cannot be reached now, as with the network
    switched off. Nothing is sent: no name is looked up, and a datagram socket that is connected
    only has its route chosen.
    """
    if any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES):
        return True  # which may be reached in ways of its own
    host = urllib.parse.urlsplit(address).hostname or ""
    if host == "localhost":
        return True
    return any(map(_is_routed, (host,) if _is_number(host) else _FAR))


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_routed(number: str) -> bool:
    family = socket.AF_INET6 if ":" in number else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as opened:
            opened.connect((number, _DISCARD_PORT))
    except OSError:
        return False
    return True


# download ------------------------------------------------------------------------------------

_MAX_ADDRESS = 4096
"""Characters of the longest web address."""


class Progress(Protocol):
    """Takes reports of a download, and ends it: a LoadContext is one."""

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
    """Folder in which Keras keeps files of a kind, "datasets" or "models": below ~/.keras or
    KERAS_HOME.
    """
    home = os.environ.get("KERAS_HOME")
    return (Path(home) if home else Path("~/.keras").expanduser()) / kind


def host_of(address: str) -> str:
    """The computer that an address names, with its port where it names one."""
    return urllib.parse.urlsplit(address).netloc.rpartition("@")[2]


def reason_words(error: OSError | ValueError | http.client.HTTPException) -> str:
    """Why a connection failed, without the number of the operating system."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    words = reason.strerror if isinstance(reason, OSError) else ""
    return words or str(reason) or type(error).__name__


def is_web_address(text: str) -> bool:
    """Whether a text is an address that can be downloaded: http or https, a host, no user name."""
    try:
        parts = urllib.parse.urlsplit(text)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    is_plain = text.isprintable() and not any(map(str.isspace, text)) and "@" not in parts.netloc
    is_web = parts.scheme in {"http", "https"} and bool(parts.hostname) and has_port
    return is_web and is_plain and len(text) <= _MAX_ADDRESS
