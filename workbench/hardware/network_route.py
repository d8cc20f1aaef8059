"""Whether this computer has a way to an address at all: asked of the kernel, not of the network."""

from __future__ import annotations

import ipaddress
import os
import socket
import urllib.parse

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
