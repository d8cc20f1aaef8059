"""Other computers that were connected before: addresses and what was found there, no secrets."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.format import bytes_text
from workbench.core.params import Params, check_all
from workbench.core.projects.project import HERE, Choice
from workbench.core.storage.json_file import read_json, refuse_newer
from workbench.core.storage.save import save_with_folder
from workbench.errors import InputError, UsageError
from workbench.hardware.address import parse_address
from workbench.remote.ssh.host import DEFAULT_HOME, RemoteHost, place_of
from workbench.runs.home import data_home
from workbench.targets.gpu import SPEC as GPU
from workbench.targets.ssh import SPEC as SSH
from workbench.targets.ssh import computers
from workbench.targets.tpu import SPEC as TPU

VERSION = 1


class SavedHost(msgspec.Struct, frozen=True, kw_only=True):
    """One of them.

    Attributes:
        address: [USER@]HOST[:PORT].
        key_file, home, python: As of `RemoteHost`.
        words: What is there, in words ("v5litepod-8, 112 cores").
        environment: Which environment was set up there: worker, tpu, gpu or "".
        seen: When it last answered, in seconds since the epoch; 0 for never.
    """

    address: str
    key_file: str = ""
    home: str = DEFAULT_HOME
    python: str = ""
    words: str = ""
    environment: str = ""
    seen: float = 0.0

    def place(self) -> RemoteHost:
        """The place; raises UsageError for what no address may be."""
        address = asdict(parse_address(self.address))
        return RemoteHost(**address, key_file=self.key_file, home=self.home, python=self.python)


class _File(msgspec.Struct, frozen=True, kw_only=True):
    """What hosts.json holds."""

    hosts: list[SavedHost] = msgspec.field(default_factory=list)
    format: str = "workbench-hosts"
    version: int = VERSION


INNER_TARGETS = {"tpu": f"{TPU.key}:local", "gpu": GPU.key, "worker": HERE.key}
"""What trains there, by the environment that fits it."""


def hosts_path() -> Path:
    """The file of saved computers."""
    return data_home() / "remote" / "hosts.json"


def saved_hosts() -> list[SavedHost]:
    """Those whose address may be connected, the latest to answer first; [] if damaged."""
    try:
        known = _read()
    except InputError:
        return []
    hosts = []
    for host in known:
        with contextlib.suppress(UsageError):
            host.place()
            hosts.append(host)
    return sorted(hosts, key=lambda host: -host.seen)


def find_host(address: str) -> SavedHost | None:
    """The saved computer of an address; None for one that is not saved."""
    return next((host for host in saved_hosts() if host.address == address), None)


def save_host(place: RemoteHost, **found: Any) -> SavedHost:
    """Keeps a computer, with new values of `words`, `environment` and `seen`. Raises InputError
    where the file is of a newer version, SaveError where it cannot be written.
    """
    old = find_host(place.text()) or SavedHost(address=place.text())
    host = msgspec.structs.replace(
        old, key_file=place.key_file, home=place.home, python=place.python, **found
    )
    _write([host, *(other for other in _read() if other.address != host.address)])
    return host


def seen_now(place: RemoteHost, facts: Mapping[str, Any]) -> SavedHost:
    """Keeps that a computer has answered, and what it has."""
    return save_host(place, words=words_of_facts(facts), seen=round(time.time(), 1))


def forget_host(address: str) -> bool:
    """Removes a computer; returns whether it was there. Errors as of `save_host`."""
    known = _read()
    kept = [host for host in known if host.address != address]
    if len(kept) == len(known):
        return False
    _write(kept)
    return True


def place_for(params: Params) -> RemoteHost:
    """The place of an `ssh` target, open parts as they were saved for it; raises UsageError."""
    place = place_of(params)
    host = find_host(place.text())
    if host is None:
        return place
    return replace(
        place,
        key_file=place.key_file or host.key_file,
        home=host.home if place.home == DEFAULT_HOME else place.home,
        python=place.python or host.python,
    )


def places_for(params: Params) -> list[RemoteHost]:
    """The places of all computers of an `ssh` target, the chief first; raises UsageError."""
    return [place_for({**params, **asdict(one)}) for one in computers(params)]


def choice_at(place: RemoteHost, inner: str) -> Choice:
    """The target that trains at a place, on one of that computer's own targets."""
    params = {"host": place.host, "user": place.user, "port": place.port, "target": inner}
    return Choice(SSH.key, check_all(SSH.params, params)[0])


def saved_choices() -> list[tuple[Choice, str]]:
    """The computers that were connected before, as targets, each with what it has."""
    return [
        (choice_at(host.place(), INNER_TARGETS.get(host.environment, HERE.key)), host.words)
        for host in saved_hosts()
    ]


def words_of_facts(facts: Mapping[str, Any]) -> str:
    """What a probe has found, in a few words."""
    words = []
    cloud, chips, gpus = facts.get("cloud"), facts.get("chips"), facts.get("gpus")
    if isinstance(chips, list) and chips:
        kind = cloud.get("accelerator", "") if isinstance(cloud, dict) else ""
        words.append(str(kind) or f"TPU, {len(chips)} chips")
    if isinstance(gpus, list) and gpus:
        words.append(f"{len(gpus)} × {gpus[0]}" if len(gpus) > 1 else str(gpus[0]))
    if isinstance(facts.get("cores"), int):
        words.append(f"{facts['cores']:,} cores")
    if isinstance(facts.get("memory_bytes"), int):
        words.append(f"{bytes_text(facts['memory_bytes'])} memory")
    return ", ".join(words)[:200]


def fitting_environment(facts: Mapping[str, Any]) -> str:
    """The environment that uses what a computer has: tpu, gpu or worker."""
    return "tpu" if facts.get("chips") else "gpu" if facts.get("gpus") else "worker"


def _read() -> list[SavedHost]:
    file = read_json(hosts_path(), _File) or _File()
    what = "The list of other computers was written by a newer version of Workbench."
    refuse_newer(InputError, what, hosts_path(), file.version, VERSION)
    return file.hosts


def _write(hosts: list[SavedHost]) -> None:
    data = msgspec.json.format(msgspec.json.encode(_File(hosts=hosts)), indent=1)
    save_with_folder(hosts_path(), data)
