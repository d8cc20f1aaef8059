"""The one way in which ssh is called: its options, then one constant command."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.errors import RemoteError
from workbench.remote.ssh.bridge import COMMAND
from workbench.remote.ssh.host import RemoteHost

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
