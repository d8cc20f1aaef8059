"""The one way in which ssh is called: its options, then one constant command."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

import msgspec

import workbench.host
from workbench.assets import faults_path
from workbench.core.params import Params
from workbench.errors import RemoteError, UsageError
from workbench.hardware.cluster import (
    MAX_PORT,
    Address,
    checked_host,
    checked_path,
    checked_port,
    checked_user,
    parse_address,
)

# bridge --------------------------------------------------------------------------------------
# What is sent over the connection first: one constant command, then the bridge's sources as data.
#
# Nothing that a person, a project or a file says is ever part of a command line: a shell on the
# other computer always gets the same characters.

SOURCES = (
    "faults",
    "wire",
    "home",
    "request",
    "children",
    "state",
    "chips",
    "memory",
    "probe",
    "environment",
    "store",
    "run",
    "follow",
    "main",
)
"""The bridge's modules, each after those that it imports."""

BOOTSTRAP = (
    "import json,sys;r=sys.stdin.buffer;"
    "o=json.loads(r.read(int(r.readline())).decode());"
    'exec(compile(o["loader"],"loader","exec"),{"__name__":"__main__","order":o})'
)
"""Reads a length, then so many bytes of JSON. One line without single quotes, dollar signs,
backslashes and exclamation marks: every login shell passes it on as it is."""

COMMAND = f"exec python3 -I -u -c '{BOOTSTRAP}'"


@cache
def _sources() -> dict[str, object]:
    folder = Path(workbench.host.__file__).parent
    texts = [[name, (folder / f"{name}.py").read_text(encoding="utf-8")] for name in SOURCES]
    return {"loader": (folder / "loader.py").read_text(encoding="utf-8"), "sources": texts}


def opening(home: str) -> bytes:
    """What follows the command on its stdin; `home` is our folder there, e.g. "~/.workbench"."""
    order = msgspec.json.encode({**_sources(), "home": home})
    return b"%d\n" % len(order) + order


# host ----------------------------------------------------------------------------------------
# Another computer, and what is ours there.

DEFAULT_HOME = "~/.workbench"
SSH_PORT = 22


@dataclass(frozen=True, kw_only=True)
class RemoteHost:
    """A computer that is reached over the person's own ssh. Every part has been checked.

    Attributes:
        host, user, port: As `Address`; "" and 0 where the person's ssh configuration decides.
        key_file: Private key to offer; "" for those that ssh finds itself.
        home: Our folder there.
        python: Interpreter to train with instead of an environment of ours; "" for ours.

    Raises:
        UsageError: a part is not allowed.
    """

    host: str
    user: str = ""
    port: int = 0
    key_file: str = ""
    home: str = DEFAULT_HOME
    python: str = ""

    def __post_init__(self) -> None:
        checked_host(self.host)
        if self.user:
            checked_user(self.user)
        if not 0 <= self.port <= MAX_PORT:
            checked_port(str(self.port))
        checked_path(self.home, "home")
        for path, what in ((self.key_file, "key file"), (self.python, "python")):
            if path:
                checked_path(path, what)

    @property
    def bare_host(self) -> str:
        """The host without the brackets of an IPv6 address, as programs take it."""
        return self.host.strip("[]")

    @property
    def key_name(self) -> str:
        """The name that its host keys are kept under: one for each host and port."""
        return f"[{self.bare_host}]:{self.port or SSH_PORT}".lower()

    def text(self) -> str:
        """Its address as people write it."""
        return Address(self.host, self.user, self.port).text()


def place_of(params: Params) -> RemoteHost:
    """The place that the parameters of an `ssh` target name; raises UsageError."""
    return RemoteHost(**{field.name: params[field.name] for field in fields(RemoteHost)})


# faults --------------------------------------------------------------------------------------
# What ssh printed when a connection broke, in words and with a remedy.

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


# command -------------------------------------------------------------------------------------

_OPTIONS = (
    "BatchMode=yes",  # no prompt, which would not be seen; keys and agent only
    "StrictHostKeyChecking=yes",
    "UpdateHostKeys=no",
    "VerifyHostKeyDNS=no",  # only what a person has accepted counts
    "NoHostAuthenticationForLocalhost=no",
    "GlobalKnownHostsFile=/dev/null",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "Tunnel=no",
    "GSSAPIDelegateCredentials=no",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "RequestTTY=no",
    "EscapeChar=none",
    "ControlMaster=no",  # a shared line would end later or earlier than this one
    "ControlPath=none",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    "LogLevel=ERROR",
)
"""ssh uses the first value of each option: ours, before the user's own."""


def ssh_argv(place: RemoteHost, *, known_hosts: Path) -> list[str]:
    """Program and arguments of the connection to a computer; no shell on this side reads them.
    `known_hosts` is the file of accepted host keys; no other is read.
    """
    argv = ["ssh", "-T"]
    for option in (*_OPTIONS, *_host_key_options(place, known_hosts)):
        argv += ["-o", option]
    if place.port:
        argv += ["-p", str(place.port)]
    if place.user:
        argv += ["-l", place.user]
    if place.key_file:
        argv += ["-i", os.path.expanduser(place.key_file)]  # noqa: PTH111 - text, no I/O
    return [*argv, "--", place.bare_host, COMMAND]


def _host_key_options(place: RemoteHost, known_hosts: Path) -> tuple[str, str]:
    path = str(known_hosts)
    if '"' in path or "${" in path or "\n" in path:
        raise RemoteError(
            "ssh cannot use the name of Workbench's data folder.",
            key="home_name",
            where=path,
            fix='Set WORKBENCH_HOME to a folder without " and ${ in its name.',
        )
    quoted = path.replace("%", "%%")
    return f'UserKnownHostsFile="{quoted}"', f"HostKeyAlias={place.key_name}"
