"""The address of another computer, as people write it, and what it may contain.

[USER@]HOST[:PORT], an IPv6 address in brackets. ssh takes a host that begins with "-" for an
option, and older ones hand metacharacters to a shell: both are rejected here, before any
program is started.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.errors import UsageError

HOST = r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}|\[[0-9A-Fa-f:.]{2,45}\]"
USER = r"[A-Za-z0-9._][A-Za-z0-9._-]{0,63}"
PATH = r"[^-\x00-\x1f\x7f][^\x00-\x1f\x7f]{0,999}"
"""Regular expressions of what the whole of a host, a user or a path may be."""

MAX_PORT = 65_535

_NAMES = {"host": "host name", "user": "user name", "home": "folder", "python": "Python path"}


@dataclass(frozen=True)
class Address:
    """Address of a computer; user "" and port 0 where the person's ssh decides."""

    host: str
    user: str = ""
    port: int = 0

    @property
    def is_here(self) -> bool:
        """Whether it names the computer itself, whichever that is."""
        return self.host in {"localhost", "127.0.0.1", "[::1]"}

    def text(self) -> str:
        """The address as people write it; `parse_address` reads it back."""
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        return f"{user}{self.host}{port}"

    __str__ = text


def parse_address(text: str) -> Address:
    """The address in [USER@]HOST[:PORT].

    Raises:
        UsageError: something in it is not allowed.
    """
    user, at, rest = text.rpartition("@")
    if at:
        checked_user(user)
    host, port = rest, 0
    if rest.startswith("["):
        host, bracket, after = rest.partition("]")
        host += bracket
        if after and not after.startswith(":"):
            raise _refused("address", text, "[USER@]HOST[:PORT]")
        colon, number = after[:1], after[1:]
    else:
        host, colon, number = rest.partition(":")
    if colon:
        port = checked_port(number)
    return Address(checked_host(host), user, port)


def checked_host(host: str) -> str:
    """A host's name or number; raises UsageError for what could be anything else."""
    if not re.fullmatch(HOST, host):
        raise _refused(
            "host", host, "letters, digits, dots and dashes; an IPv6 address in brackets"
        )
    return host


def checked_user(user: str) -> str:
    """The name of an account; raises UsageError for what could be anything else."""
    if not re.fullmatch(USER, user):
        raise _refused("user", user, "letters, digits, dots, dashes and underscores")
    return user


def checked_port(text: str) -> int:
    """A port from 1 to 65,535; raises UsageError for anything else."""
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_PORT))
    if not is_number or not 1 <= int(text) <= MAX_PORT:
        raise _refused("port", text, f"a number from 1 to {MAX_PORT:,}")
    return int(text)


def checked_path(text: str, name: str) -> str:
    """A path, which never becomes part of a shell's command; raises UsageError for one with
    control characters, or one that a program would take for an option.
    """
    if not re.fullmatch(PATH, text):
        raise _refused(name, text, "a path without control characters")
    return text


def _refused(where: str, received: str, expected: str) -> UsageError:
    shown = "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in received[:100])
    return UsageError(
        f"Not a valid {_NAMES.get(where, where)}: “{shown}”.",
        where=where,
        received=shown or "nothing",
        expected=expected,
        fix=f"Use {expected}.",
    )
