"""Host keys, which identify another computer. Only those that the user has accepted.

They are in a file of ours, never in the user's own; a key that has changed is rejected
and nothing is sent.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from workbench.core.storage.foreign_file import read_foreign
from workbench.core.storage.save import save_with_folder
from workbench.errors import DeadlineError, RemoteError
from workbench.processes.child import Child
from workbench.remote.ssh.command import SSH_PORT, RemoteHost, all_faults, no_ssh, ssh_argv
from workbench.runs.home import data_home

_DEADLINE_S = 10.0
_MAX_BYTES = 1 << 20
_KINDS = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa", "ecdsa-sha2-nistp384")
"""The best first."""
_SCANNED = "ed25519,ecdsa,rsa"


@dataclass(frozen=True)
class HostKey:
    """One public key: kind, e.g. "ssh-ed25519", and its bytes in base64."""

    kind: str
    blob: str

    @property
    def fingerprint(self) -> str:
        """Fingerprint as `ssh-keygen -l` shows it: "SHA256:..."."""
        digest = hashlib.sha256(base64.b64decode(self.blob)).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def known_hosts_path() -> Path:
    """The file of accepted keys."""
    return data_home() / "remote" / "known_hosts"


def offered_keys(place: RemoteHost, *, deadline_s: float = _DEADLINE_S) -> list[HostKey]:
    """The keys that answer at an address now, or RemoteError. They are untrusted: an
    attacker in between could show other keys, so the user compares a fingerprint.
    """
    settings = _settings(place, deadline_s)
    if {"proxyjump", "proxycommand"} & settings.keys():
        output = _through_proxy(place, deadline_s)
    else:
        host, port = _end(place, settings)
        seconds = str(max(1, int(deadline_s)))
        argv = ["ssh-keyscan", "-T", seconds, "-p", str(port), "-t", _SCANNED, "--", host]
        output = _run(argv, deadline_s + 2, place)
    keys = [key for line in output.splitlines() if (key := _key_of(line)) is not None]
    if not keys:
        raise _unreachable(place)
    return sorted(set(keys), key=lambda key: _KINDS.index(key.kind))


def _settings(place: RemoteHost, deadline_s: float) -> dict[str, str]:
    """The user's ssh configuration for an address; nothing is connected."""
    argv = ["ssh", "-G"]
    if place.port:
        argv += ["-p", str(place.port)]
    output = _run([*argv, "--", place.bare_host], deadline_s, place)
    settings = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
    return {name: value for name, value in settings.items() if value != "none"}


def _end(place: RemoteHost, settings: dict[str, str]) -> tuple[str, int]:
    """Name and port that the person's ssh would connect."""
    name, port = settings.get("hostname", place.bare_host), settings.get("port", "")
    if name.startswith("-") or not name.isprintable():
        name = place.bare_host
    return name, int(port) if port.isdigit() else place.port or SSH_PORT


def _through_proxy(place: RemoteHost, deadline_s: float) -> str:
    """The key that ssh itself meets behind a jump host, noted in a file that is thrown away;
    nothing is sent to that computer, which grants no access by the method "none".
    """
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder) / "met"
        argv = ssh_argv(place, known_hosts=path)
        first = ["StrictHostKeyChecking=accept-new", "PreferredAuthentications=none"]
        options = [word for option in first for word in ("-o", option)]
        # Of each option the first one counts.
        _run([argv[0], *options, *argv[1:]], deadline_s, place)
        return path.read_text(encoding="utf-8") if path.exists() else ""


def _run(argv: list[str], deadline_s: float, place: RemoteHost) -> str:
    try:
        with Child(argv, name="ssh", order=b"") as child:
            output = child.rest(limit=_MAX_BYTES, deadline_s=deadline_s)
            child.exit_code()
    except FileNotFoundError as error:
        raise no_ssh(argv[0]) from error
    except DeadlineError as error:
        raise _unreachable(place, f"a response within {deadline_s:.0f} s") from error
    return output.decode("utf-8", "replace")


def _unreachable(place: RemoteHost, expected: str = "") -> RemoteError:
    return RemoteError(
        f"No SSH server answered at {place.text()}.",
        key="unreachable",
        is_passing=True,
        where=place.text(),
        expected=expected,
        fix="Check the address, that the computer is running, and that its firewall allows SSH.",
    )


def _key_of(line: str) -> HostKey | None:
    """The key of a line "NAMES KIND BLOB ..."; None for a comment or nonsense."""
    words = line.split()
    if len(words) < 3 or line.startswith("#") or words[1] not in _KINDS:
        return None
    try:
        blob = base64.b64decode(words[2], validate=True)
    except (binascii.Error, ValueError):
        return None
    named = len(words[1]).to_bytes(4, "big") + words[1].encode()
    return HostKey(words[1], words[2]) if blob.startswith(named) else None


def accepted_keys(place: RemoteHost) -> list[HostKey]:
    """The keys that a person has accepted for this address; [] at first contact."""
    found = (_key_of(line) for line in _lines() if line.split()[0] == place.key_name)
    return [key for key in found if key is not None]


def is_known(place: RemoteHost) -> bool:
    """Whether some key has been accepted for this address."""
    return bool(accepted_keys(place))


def accept(place: RemoteHost, keys: list[HostKey]) -> None:
    """Keeps keys that a person has compared; raises RemoteError where others are kept for this
    address (they have to be forgotten first), and SaveError.
    """
    old = accepted_keys(place)
    if old and not set(old) & set(keys):
        raise changed_key(place)
    lines = [line for line in _lines() if line.split()[0] != place.key_name]
    lines += [f"{place.key_name} {key.kind} {key.blob}" for key in keys]
    save_with_folder(known_hosts_path(), ("\n".join(lines) + "\n").encode())


def forget(place: RemoteHost) -> bool:
    """Removes the keys of an address; returns whether there were any."""
    lines = _lines()
    kept = [line for line in lines if line.split()[0] != place.key_name]
    if len(kept) == len(lines):
        return False
    save_with_folder(known_hosts_path(), "".join(f"{line}\n" for line in kept).encode())
    return True


def changed_key(place: RemoteHost) -> RemoteError:
    """The refusal of an address that answers with another identity."""
    fault = all_faults()["host_key_changed"]
    fix = fault.fix.format(name=place.text())
    return RemoteError(fault.what, key=fault.key, where=place.text(), fix=fix)


def _lines() -> list[str]:
    try:
        text = read_foreign(known_hosts_path(), _MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()]
