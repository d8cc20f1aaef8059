"""Other computers that were connected before: addresses and what was found there, no secrets."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.format import bytes_text
from workbench.core.params import Params, TextParam, check_all
from workbench.core.projects.project import HERE, Choice
from workbench.core.projects.texts import target_text
from workbench.core.registry import Registry
from workbench.core.specs import TargetSpec
from workbench.core.storage.json_file import read_json, refuse_newer
from workbench.core.storage.save import save_with_folder
from workbench.errors import InputError, ParamError, UsageError
from workbench.hardware.cluster import parse_address
from workbench.remote.ssh import host_keys
from workbench.remote.ssh.command import DEFAULT_HOME, RemoteHost, place_of
from workbench.runs import trust
from workbench.runs.home import data_home
from workbench.targets import target_label
from workbench.targets.gpu import SPEC as GPU
from workbench.targets.ssh import SPEC as SSH
from workbench.targets.ssh import computers
from workbench.targets.ssh import label as ssh_label
from workbench.targets.tpu import SPEC as TPU

VERSION = 1
MAX_NAME = 40
"""Longest name of a computer, in characters: room for it in a menu and a button."""

_NAME = TextParam(
    key="name",
    title="Name",
    default="",
    help="Name of the computer.",
    allowed=f"up to {MAX_NAME} characters on one line",
    max_length=MAX_NAME,
)


class SavedHost(msgspec.Struct, frozen=True, kw_only=True):
    """One of them.

    Attributes:
        address: [USER@]HOST[:PORT]; no two of them have the same.
        name: What lists show in its place; "" for the address.
        key_file, home, python: As of `RemoteHost`.
        words: What is there, in words ("v5litepod-8, 112 cores").
        environment: Which environment was set up there: worker, tpu, gpu or "".
        seen: When it last answered, in seconds since the epoch; 0 for never.
    """

    address: str
    name: str = ""
    key_file: str = ""
    home: str = DEFAULT_HOME
    python: str = ""
    words: str = ""
    environment: str = ""
    seen: float = 0.0

    @property
    def label(self) -> str:
        """Its name, or its address where it has none."""
        return self.name or self.address

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
    """Saved hosts whose address may be connected, the latest to answer first; [] if damaged."""
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


def rename_host(address: str, name: str) -> SavedHost:
    """Gives a computer another name; "" takes it away. Raises UsageError where it is not saved, or
    the name is not allowed or another's; others as of `save_host`.
    """
    host, name = find_host(address), " ".join(name.split())
    if host is None:
        raise UsageError(
            "This computer is not saved.",
            received=address,
            expected="an address that `workbench host list` lists",
            fix=f"Save it first: workbench host add {address}",
        )
    _check_name(host, name)
    named = msgspec.structs.replace(host, name="" if name == address else name)
    _write([named if other.address == address else other for other in _read()])
    return named


def _check_name(host: SavedHost, name: str) -> None:
    """Raises UsageError where a name is not allowed, or taken."""
    try:
        _NAME.check(name)
    except ParamError as error:
        raise UsageError(error.what, received=name[:200], expected=error.expected) from error
    others = [other for other in saved_hosts() if other.address != host.address]
    taken = {word.casefold() for other in others for word in (other.name, other.address) if word}
    if name.casefold() in taken:
        raise UsageError(
            "Another saved computer has this name.",
            received=name,
            expected="a name that no other computer has",
        )


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """What was removed.

    Attributes:
        host: It was a saved computer.
        keys: Its host key was accepted.
        consent: Its address may be connected to automatically.
        key_kept_for: Addresses of other saved accounts there: the host key is theirs too, and
            was not removed.
    """

    host: bool
    keys: bool
    consent: bool
    key_kept_for: list[str]

    def words(self) -> str:
        """What was forgotten, in a sentence or two."""
        if not (self.host or self.keys or self.consent):
            return "Unknown host."
        kept = ", ".join(self.key_kept_for)
        return f"Forgotten. Its host key is kept for {kept}." if kept else "Forgotten."


def forget_computer(place: RemoteHost) -> Forgotten:
    """Removes all that is kept of a computer: what was saved, the user's consent to connect to its
    address, and its host key unless another account there is saved. Errors as of `save_host`.
    """
    address, known = place.text(), _read()
    consent = trust.forget(address)
    kept = [host for host in known if host.address != address]
    if len(kept) < len(known):
        _write(kept)
    users = [other.address for other in saved_hosts() if other.place().key_name == place.key_name]
    keys = not users and host_keys.forget(place)
    is_host = len(kept) < len(known)
    return Forgotten(host=is_host, keys=keys, consent=consent, key_kept_for=users)


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


def choice_of(host: SavedHost) -> Choice:
    """A computer as the target that its environment is for."""
    return choice_at(host.place(), INNER_TARGETS.get(host.environment, HERE.key))


def saved_choices() -> list[tuple[Choice, str]]:
    """The computers that were connected before, as targets, each with what it has."""
    return [(choice_of(host), host.words) for host in saved_hosts()]


def label_of(choice: Choice) -> str:
    """Label of a target as of `target_label`, with the names of saved computers in place of their
    addresses.
    """
    if choice.key != SSH.key:
        return target_label(choice)
    labels = {host.address: host.label for host in saved_hosts()}
    params = check_all(SSH.params, choice.params)[0]
    words = ssh_label(params, lambda address: labels.get(address.text(), address.text()))
    return words or SSH.title


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


# target choices ------------------------------------------------------------------------------
# The places to train on that can be chosen: what is here, what the environment names, what was
# connected before, and the project's own.

Named = tuple[Choice, str]
"""A place, with what its label does not show; "" for nothing."""

Saved = Callable[[], Sequence[Named]]
"""Gives places that were connected before."""


def target_choices(
    targets: Registry[TargetSpec], current: Choice, saved: Saved = saved_choices
) -> list[list[Named]]:
    """The places in groups; each place once, empty groups left out."""
    groups: list[list[Named]] = []
    shown: set[str] = set()
    for named in (_offered(targets), _found(targets), saved(), _own(targets, current)):
        fresh = []
        for choice, words in named:
            text = target_text(choice, targets)
            if text not in shown:
                shown.add(text)
                fresh.append((choice, words))
        groups.append(fresh)
    return [group for group in groups if group]


def choice_line(choice: Choice, words: str) -> str:
    """A place in one line: its label, and `words` where these do not begin with it."""
    label = label_of(choice)
    return words if words.startswith(label) else f"{label} · {words}" if words else label


def _offered(targets: Registry[TargetSpec]) -> Iterable[Named]:
    for spec in targets.values():
        for params in spec.presets if spec.is_offered() else ():
            checked = check_all(spec.params, params)[0]
            yield Choice(spec.key, checked), spec.describe(checked)


def _found(targets: Registry[TargetSpec]) -> Iterable[Named]:
    for spec in targets.values():
        for params, why in spec.found(os.environ):
            yield Choice(spec.key, check_all(spec.params, params)[0]), why


def _own(targets: Registry[TargetSpec], current: Choice) -> Iterable[Named]:
    """The project's own place, where nothing above is it."""
    spec = targets.get(current.key)
    if spec is not None:
        params = check_all(spec.params, current.params)[0]
        yield Choice(spec.key, params), spec.describe(params)
