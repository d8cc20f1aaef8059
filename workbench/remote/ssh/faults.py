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
        "This address answers with another identity than the one that was accepted: the "
        "computer was made anew, or somebody is between. Nothing was sent.",
        "If you know that it was made anew: workbench host forget {name}, then accept its new "
        "fingerprint.",
    ),
    SshFault(
        "host_key_unknown",
        r"No \S+ host key is known|Host key verification failed",
        "The identity of this computer has not been confirmed yet.",
        "Compare its fingerprint and accept it: workbench host fingerprint {name}",
    ),
    SshFault(
        "not_allowed",
        r"Permission denied|Too many authentication failures|No more authentication methods",
        "The other computer did not accept your ssh key.",
        "Put your public key there (ssh-copy-id {name}), unlock it in the ssh agent, or name "
        "the right key file. Workbench never asks for a password.",
    ),
    SshFault(
        "bad_key_file",
        r"UNPROTECTED PRIVATE KEY FILE|bad permissions|Load key .*: |Identity file .* not acc",
        "Your private key file cannot be used.",
        "Only you may be able to read it (chmod 600), and it has to be a private key.",
    ),
    SshFault(
        "no_name",
        r"Could not resolve hostname",
        "There is no computer of that name.",
        "Correct the address; is this computer connected to the network?",
        is_passing=True,
    ),
    SshFault(
        "refused",
        r"Connection refused",
        "The other computer is there, but refuses ssh connections.",
        "Is the address right and its port; has it started completely?",
        is_passing=True,
    ),
    SshFault(
        "unreachable",
        r"timed out|No route to host|Network is unreachable|Host is down",
        "The other computer does not answer.",
        "Is it on, is the address right, does its firewall let ssh in?",
        is_passing=True,
    ),
    SshFault(
        "cut",
        r"not responding|closed by remote host|Connection reset|Broken pipe|Connection closed|"
        r"kex_exchange_identification|Connection to .* closed|client_loop",
        "The line to the other computer was cut.",
        "It is tried again; what trains there goes on.",
        is_passing=True,
    ),
    SshFault(
        "no_common_method",
        r"no matching (host key|cipher|key exchange|MAC)|Unable to negotiate",
        "This computer's ssh and the other's have no common method of encryption.",
        "Update the older of the two.",
    ),
    SshFault(
        "bad_option",
        r"Bad configuration option|keyword .* extra arguments|Bad owner or permissions on",
        "ssh refuses its own configuration on this computer.",
        "Look at the file that it names, usually ~/.ssh/config.",
    ),
    SshFault(
        "hostname_refused",
        r"hostname contains invalid characters|remote username contains invalid characters",
        "ssh refuses the address.",
        "Correct the host or the user name.",
    ),
    SshFault(
        "account_closed",
        r"This account is (currently )?not available|administratively prohibited|nologin",
        "The other computer lets nobody run programs under this account.",
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
        "The Python of the other computer is too old or incomplete.",
        "Install a newer one there: sudo apt-get install -y python3.11 python3.11-venv",
    ),
)
"""Asked in this order: the first that fits is told."""


def fault_of(text: str) -> SshFault | None:
    """The cause that ssh's words name; None for words that are not known here."""
    return next((f for f in FAULTS if re.search(f.pattern, text, re.IGNORECASE)), None)


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
            "The line to the other computer was cut.",
            key="cut",
            is_passing=True,
            where=name,
            received=said,
            fix="It is tried again; what trains there goes on.",
        )
    return RemoteError(
        "The other computer could not run Workbench's part.",
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
