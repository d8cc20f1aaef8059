"""Several machines that train together: their addresses, and which of them this process is."""

from __future__ import annotations

import contextlib
import re
import secrets
import socket
from dataclasses import dataclass, replace

import msgspec

from workbench.errors import RunError, UsageError

# address -------------------------------------------------------------------------------------
# The address of another computer, as people write it, and what it may contain.
#
# [USER@]HOST[:PORT], an IPv6 address in brackets. ssh takes a host that begins with "-" for an
# option, and older ones hand metacharacters to a shell: both are rejected here, before any
# program is started.

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


# cluster -------------------------------------------------------------------------------------

CLUSTER_VARIABLE = "WORKBENCH_CLUSTER"
"""Environment variable: the cluster as `Cluster.text` writes it, for a worker that is
started from outside beside others. Without it a trainer starts the others itself.
"""

CLUSTER_NAME = "cluster.json"
"""File in a run's folder: the same, where all machines were started from one place; it counts where
it was put there by this user (`runs.trust`)."""

FIRST_PORT = 23_200
"""Port of a machine whose address names none."""

MOST_MACHINES = 64


def read_address(text: str) -> Address:
    """An address from "HOST" or "HOST:PORT".

    Raises:
        UsageError: it is none.
    """
    try:
        address = parse_address(text)
    except UsageError:
        address = None
    if address is None or address.user:
        raise UsageError(
            "Not a valid machine address.",
            where="several",
            received=text or "nothing",
            expected="HOST or HOST:PORT, the port from 1 to 65,535",
            fix="For example: several:192.168.1.10,192.168.1.11",
        )
    return address


def read_addresses(text: str) -> tuple[Address, ...]:
    """The addresses of "HOST,HOST:PORT,...", the first of them the chief's.

    Raises:
        UsageError: one is no address or comes twice, their number is not from 2 to 64, or
            this computer is among others.
    """
    found = tuple(read_address(part.strip()) for part in text.split(","))
    named = [address for address in found if address.port or not address.is_here]
    if not 2 <= len(found) <= MOST_MACHINES or len({*named}) < len(named):
        raise UsageError(
            "Each machine needs its own address.",
            where="several",
            received=text,
            expected=f"from 2 to {MOST_MACHINES} different addresses",
            fix="For example: several:localhost,localhost for two processes on this computer.",
        )
    if len({address.is_here for address in found}) > 1:
        raise UsageError(
            "Other machines cannot reach this computer as localhost.",
            where="several",
            received=text,
            expected="localhost for all machines, or for none",
            fix="Use an address of this computer that the others can reach.",
        )
    return found


@dataclass(frozen=True)
class Cluster:
    """The machines of one training, as sent to each of them.

    Attributes:
        machines: "HOST:PORT" of each; the first leads.
        index: Which of them this process is, from 0.
        key: Secret that the others must send to be let in; "" for none.
    """

    machines: tuple[str, ...]
    index: int = 0
    key: str = ""

    def text(self) -> str:
        """The cluster as JSON, for the environment of a worker."""
        return msgspec.json.encode(self).decode()

    def of(self, index: int) -> Cluster:
        """The cluster as another of its machines sees it."""
        return replace(self, index=index)

    @classmethod
    def from_text(cls, text: str) -> Cluster:
        """The inverse of `text`.

        Raises:
            RunError: it is no cluster.
        """
        try:
            cluster = msgspec.json.decode(text, type=cls)
            addresses = read_addresses(",".join(cluster.machines))
        except (msgspec.DecodeError, UsageError) as error:
            raise _no_cluster(text, str(error)) from error
        if not all(address.port for address in addresses):
            raise _no_cluster(text, "a machine without a port")
        if not 0 <= cluster.index < len(cluster.machines):
            raise _no_cluster(text, f"there is no machine {cluster.index + 1}")
        return cluster

    def address(self, index: int) -> Address:
        """Address at which a machine listens."""
        return read_address(self.machines[index])


def _no_cluster(text: str, why: str) -> RunError:
    return RunError(
        "The description of the cluster is invalid.",
        where=CLUSTER_VARIABLE,
        received=f"{text[:200]} ({why})",
        expected='{"machines": ["HOST:PORT", "HOST:PORT"], "index": 0, "key": ""}',
    )


def local_cluster(addresses: tuple[Address, ...]) -> Cluster:
    """The cluster of processes on this computer, at free ports where none is named, with a
    new key.
    """
    with contextlib.ExitStack() as held:
        machines = [replace(each, port=each.port or _free_port(held)).text() for each in addresses]
    return Cluster(tuple(machines), key=secrets.token_hex(16))


def with_ports(addresses: tuple[Address, ...]) -> tuple[str, ...]:
    """The addresses as every machine uses them: with the usual port where none is named."""
    return tuple(replace(each, port=each.port or FIRST_PORT).text() for each in addresses)


def _free_port(held: contextlib.ExitStack) -> int:
    """A free port; held until all are found, so that none is found twice."""
    one = held.enter_context(socket.socket())
    one.bind(("127.0.0.1", 0))
    return int(one.getsockname()[1])
