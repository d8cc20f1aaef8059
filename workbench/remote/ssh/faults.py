"""What ssh printed when a line broke, in words and with a remedy."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.errors import RemoteError

TRANSPORT = 255
"""ssh's own exit code: the line, not the program at its end."""

_NOT_FOUND = 127
_LONGEST = 2_000


@dataclass(frozen=True)
class SshFault:
    """One cause: by which words it is known, and what it means.

    Attributes:
        key: For programs.
        pattern: Regular expression in what ssh printed.
        what, fix: For people; "{name}" stands for the address.
        is_passing: It may go better a little later.
    """

    key: str
    pattern: str
    what: str
    fix: str
    is_passing: bool = False


FAULTS = (
    SshFault(
        "host_key_changed",
        r"REMOTE HOST IDENTIFICATION HAS CHANGED|host key for .* has changed",
        "The host key has changed since it was trusted: the computer was reinstalled, "
        "or this is a man-in-the-middle attack. Nothing was sent.",
        "If you know that it was reinstalled: run `workbench host forget {name}`, then "
        "trust its new fingerprint.",
    ),
    SshFault(
        "host_key_unknown",
        r"No \S+ host key is known|Host key verification failed",
        "The host key of this computer is not trusted yet.",
        "Compare its fingerprint and trust it: workbench host fingerprint {name}",
    ),
    SshFault(
        "not_allowed",
        r"Permission denied|Too many authentication failures|No more authentication methods",
        "The other computer rejected your SSH key.",
        "Copy your public key there (ssh-copy-id {name}), unlock it in the SSH agent, "
        "or choose another key file. Workbench never asks for a password.",
    ),
    SshFault(
        "bad_key_file",
        r"UNPROTECTED PRIVATE KEY FILE|bad permissions|Load key .*: |Identity file .* not acc",
        "Your private key file cannot be used.",
        "It must be a private key that only you can read (chmod 600).",
    ),
    SshFault(
        "no_name",
        r"Could not resolve hostname",
        "Unknown host name.",
        "Check the address and the network connection of this computer.",
        is_passing=True,
    ),
    SshFault(
        "refused",
        r"Connection refused",
        "The other computer refuses SSH connections.",
        "Check the address and port. Has it finished booting?",
        is_passing=True,
    ),
    SshFault(
        "unreachable",
        r"timed out|No route to host|Network is unreachable|Host is down",
        "The other computer does not respond.",
        "Check the address, that the computer is running, and that its firewall allows SSH.",
        is_passing=True,
    ),
    SshFault(
        "cut",
        r"not responding|closed by remote host|Connection reset|Broken pipe|Connection closed|"
        r"kex_exchange_identification|Connection to .* closed|client_loop",
        "The connection to the other computer was lost.",
        "Workbench reconnects automatically. Training there continues.",
        is_passing=True,
    ),
    SshFault(
        "no_common_method",
        r"no matching (host key|cipher|key exchange|MAC)|Unable to negotiate",
        "The SSH versions of the two computers have no encryption method in common.",
        "Update the older one.",
    ),
    SshFault(
        "bad_option",
        r"Bad configuration option|keyword .* extra arguments|Bad owner or permissions on",
        "The SSH configuration of this computer has an error.",
        "Check the file it names, usually ~/.ssh/config.",
    ),
    SshFault(
        "hostname_refused",
        r"hostname contains invalid characters|remote username contains invalid characters",
        "SSH rejects the address.",
        "Correct the host or the user name.",
    ),
    SshFault(
        "account_closed",
        r"This account is (currently )?not available|administratively prohibited|nologin",
        "This account may not run programs on the other computer.",
        "Use another user name.",
    ),
    SshFault(
        "no_python",
        r"(python3\S*|exec): (Command |command )?not found|python3: No such file|"
        r"Unknown command.*python3|can't open .*python3",
        "Python was not found on the other computer.",
        "Install it there: sudo apt-get install -y python3.11 python3.11-venv",
    ),
    SshFault(
        "old_python",
        r"SyntaxError|ModuleNotFoundError|ImportError",
        "Python on the other computer is too old or incomplete.",
        "Install a newer one there: sudo apt-get install -y python3.11 python3.11-venv",
    ),
)
"""Asked in this order: the first that fits is told."""


def fault_of(text: str) -> SshFault | None:
    """The cause that ssh's words name; None for words that are not known here."""
    return next((f for f in FAULTS if re.search(f.pattern, text, re.IGNORECASE)), None)


def no_ssh(program: str) -> RemoteError:
    """What it means that ssh itself is not there."""
    return RemoteError(
        "The program ssh is not installed on this computer.",
        key="no_ssh",
        where=program,
        fix="Install it: sudo apt-get install -y openssh-client",
    )


def words_of(
    exit_code: int | None, stderr: str, name: str, *, fault: str = "", has_stood: bool = False
) -> RemoteError:
    """What the end of a line means.

    Args:
        exit_code: Exit code of ssh; None while it runs.
        stderr: What it printed.
        name: The address, for words.
        fault: What was noticed on this side, "" for nothing.
        has_stood: The other end had answered: whatever a login script there prints since, that
            line was let in, and may be again.
    """
    found = fault_of(stderr)
    if has_stood and (found is None or not found.is_passing):
        found = next(f for f in FAULTS if f.key == "cut")
    if found is None and exit_code == _NOT_FOUND:
        found = next(f for f in FAULTS if f.key == "no_python")
    said = plain(_last_lines(stderr)) or plain(fault)
    if found is not None:
        return RemoteError(
            found.what,
            key=found.key,
            is_passing=found.is_passing,
            where=name,
            received=said,
            fix=found.fix.format(name=name),
        )
    if exit_code == TRANSPORT or fault or exit_code in {None, 0, 1} or (exit_code or 0) < 0:
        return RemoteError(
            "The connection to the other computer was lost.",
            key="cut",
            is_passing=True,
            where=name,
            received=said,
            fix="Workbench reconnects automatically. Training there continues.",
        )
    return RemoteError(
        "Workbench could not be run on the other computer.",
        key="bridge",
        where=name,
        received=said or f"exit code {exit_code}",
    )


def plain(text: str) -> str:
    """Text of another computer, cut, and without what could drive a terminal."""
    kept = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return kept if len(kept) <= _LONGEST else kept[:_LONGEST] + "..."


def _last_lines(text: str) -> str:
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines() if line.strip()]
    return "; ".join(lines[-4:])
