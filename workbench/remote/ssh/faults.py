"""What ssh printed when a connection broke, in words and with a remedy."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache

from workbench.assets import faults_path
from workbench.errors import RemoteError, UsageError
from workbench.hardware.address import parse_address

TRANSPORT = 255
"""ssh's own exit code: the connection, not the program at its end."""

_NOT_FOUND = 127
_LONGEST = 2_000


@dataclass(frozen=True)
class SshFault:
    """One cause: the pattern that identifies it, and what it means.

    Attributes:
        key: For programs.
        pattern: Regular expression in what ssh printed.
        what, fix: For people; "{name}" is replaced by the address, "{copy_id}" by the command
            that copies a public key there.
        is_passing: It may go better a little later.
    """

    key: str
    pattern: str
    what: str
    fix: str
    is_passing: bool = False


@cache
def all_faults() -> dict[str, SshFault]:
    """The known causes by key, in the order in which they are tried."""
    table = tomllib.loads(faults_path("ssh").read_text(encoding="utf-8"))
    return {key: SshFault(key=key, **row) for key, row in table.items()}


def fault_of(text: str) -> SshFault | None:
    """The cause that ssh's words name; None for words that are not known here."""
    faults = all_faults().values()
    return next((f for f in faults if re.search(f.pattern, text, re.IGNORECASE)), None)


def no_ssh(program: str) -> RemoteError:
    """What it means that ssh itself is not there."""
    return RemoteError(
        "The program ssh is not installed on this computer.",
        key="no_ssh",
        where=program,
        fix="Install it: sudo apt-get install -y openssh-client",
    )


def words_of(
    exit_code: int | None, stderr: str, name: str, *, fault: str = "", was_connected: bool = False
) -> RemoteError:
    """What the end of a connection means.

    Args:
        exit_code: Exit code of ssh; None while it runs.
        stderr: What it printed.
        name: The address, for words.
        fault: What was noticed on this side, "" for nothing.
        was_connected: The other end had answered: whatever a login script there prints since, that
            line was let in, and may be again.
    """
    found = fault_of(stderr)
    if was_connected and (found is None or not found.is_passing):
        found = all_faults()["cut"]
    elif found is None and exit_code == _NOT_FOUND:
        found = all_faults()["no_python"]
    elif found is None and (fault or exit_code in {None, TRANSPORT, 0, 1} or exit_code < 0):
        found = all_faults()["cut"]
    said = plain(_last_lines(stderr)) or plain(fault)
    if found is None:
        return RemoteError(
            "Workbench could not be run on the other computer.",
            key="bridge",
            where=name,
            received=said or f"exit code {exit_code}",
        )
    return RemoteError(
        found.what,
        key=found.key,
        is_passing=found.is_passing,
        where=name,
        received=said,
        fix=found.fix.format(name=name, copy_id=_copy_id(name)),
    )


def _copy_id(name: str) -> str:
    """The command that copies a public key to an address: its port is an option of its own."""
    try:
        address = parse_address(name)
    except UsageError:  # a name for people, not an address
        return f"ssh-copy-id {name}"
    port = f"-p {address.port} " if address.port else ""
    return f"ssh-copy-id {port}{replace(address, port=0).text()}"


def plain(text: str) -> str:
    """Text of another computer, cut, and without what could drive a terminal."""
    kept = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return kept if len(kept) <= _LONGEST else kept[:_LONGEST] + "..."


def _last_lines(text: str) -> str:
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines() if line.strip()]
    return "; ".join(lines[-4:])
