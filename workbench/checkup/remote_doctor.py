"""What could keep a training from starting on another computer: checked over its connection."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from workbench.checkup.doctor import Finding, examine_target
from workbench.core.format import bytes_text
from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.errors import RemoteError, WorkbenchError
from workbench.remote.ssh import saved_hosts
from workbench.remote.ssh.command import RemoteHost, plain
from workbench.remote.ssh.connection import Connection
from workbench.targets import all_targets
from workbench.targets.gpu import SPEC as GPU
from workbench.targets.ssh import SPEC as SSH
from workbench.targets.ssh import trains_on
from workbench.targets.tpu import SPEC as TPU

_LOW_DISK_BYTES = 4 * 10**9
_LOW_MEMORY_BYTES = 3 * 10**9
_LOWEST, _ABOVE = (3, 11), (3, 14)
_FREE_SPACE = "Free some space there, or choose another folder: an environment takes 2.5 GB."
_INSTALL = "Install it there: sudo apt-get install -y python3.11 python3.11-venv"


class Python(msgspec.Struct, frozen=True):
    """An interpreter there."""

    path: str = ""
    version: list[int] = []
    has_venv: bool = False
    versions: dict[str, str] = {}


class Holder(msgspec.Struct, frozen=True):
    """A process that has a chip open."""

    pid: int = 0
    words: str = ""


class Chip(msgspec.Struct, frozen=True):
    """A device node of a TPU."""

    path: str = ""
    is_allowed: bool = False
    group: str = ""
    holders: list[Holder] = []


class Facts(msgspec.Struct, frozen=True):
    """What the other computer reports about itself, see `host.probe`; it is not trusted."""

    system: str = ""
    machine: str = ""
    name: str = ""
    user: str = ""
    cores: int = 0
    memory_bytes: int = 0
    free_bytes: int = 0
    pythons: list[Python] = []
    chips: list[Chip] = []
    gpus: list[str] = []
    cloud: dict[str, str] = {}
    runs_alive: list[str] = []


def examine_far(target: Choice) -> Iterator[Finding]:
    """Connects and queries the other computer; a failed connection is a finding too.

    Args:
        target: One of another computer.
    """
    near = examine_target(target)
    if not near.ok or target.key != SSH.key:
        yield near
        return
    params = check_all(all_targets()[target.key].params, target.params)[0]
    for place in saved_hosts.places_for(params):
        try:
            facts = _facts_of(place)
        except WorkbenchError as error:
            yield Finding.of("line", error)
            continue
        yield Finding("line", ok=True, words=f"{place.text()} responds as {plain(facts.name)}")
        yield from findings_of(facts, trains_on(params), python=place.python)


def _facts_of(place: RemoteHost) -> Facts:
    with Connection.to(place) as line:
        return read_facts(line.call("probe", python=place.python).data)


def read_facts(data: bytes) -> Facts:
    """The facts in an answer's bytes; raises RemoteError for what is none."""
    try:
        return msgspec.json.decode(data, type=Facts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RemoteError(
            "The response of the other computer cannot be read.", received=plain(str(error))
        ) from error


def findings_of(facts: Facts, inner: Choice, *, python: str = "") -> Iterator[Finding]:
    """What the facts mean for a target of that computer.

    Args:
        facts: What it reports.
        inner: The target there.
        python: The interpreter to train with; "" for an environment of ours.
    """
    yield _system(facts)
    yield _python(facts, python)
    for check, count, low, what, fix in (
        ("memory", facts.memory_bytes, _LOW_MEMORY_BYTES, "", "Use a computer with more memory."),
        ("disk", facts.free_bytes, _LOW_DISK_BYTES, " free", _FREE_SPACE),
    ):
        yield Finding.judged(check, f"{bytes_text(count)}{what}", fix, ok=count >= low)
    if inner.key == TPU.key:
        yield _chips(facts)
        yield from _preempted(facts)
    if inner.key == GPU.key:
        words = ", ".join(map(plain, facts.gpus)) or "no NVIDIA GPU with a driver"
        fix = "Choose another target there, such as this_computer."
        yield Finding.judged("cards", words, fix, ok=bool(facts.gpus))
    if facts.runs_alive:
        words = f"{len(facts.runs_alive):,} Workbench runs training there now"
        yield Finding("runs", ok=True, words=words)


def _system(facts: Facts) -> Finding:
    words = f"{plain(facts.system)} on {plain(facts.machine)}, {facts.cores:,} cores"
    fix = "Only Linux computers can be used."
    return Finding.judged("system", words, fix, ok=facts.system == "Linux")


def _python(facts: Facts, named: str) -> Finding:
    fitting = [each for each in facts.pythons if _LOWEST <= tuple(each.version[:2]) < _ABOVE]
    if named:
        lacking = [
            name
            for name in ("keras", "msgspec", "numpy")
            if not any(name in each.versions for each in fitting)
        ]
        words = f"{named}: {'missing packages' if lacking else 'all packages found'}"
        fix = f"Install there: {', '.join(lacking)}"
        return Finding.judged("python", words, fix, ok=not lacking)
    words = ", ".join(f"{'.'.join(map(str, p.version))} at {plain(p.path)}" for p in facts.pythons)
    is_there = any(each.has_venv for each in fitting)
    return Finding.judged("python", words or "not found", _INSTALL, ok=is_there)


def _chips(facts: Facts) -> Finding:
    if not facts.chips:
        fix = "This is not a TPU VM, or its chip is lost until the VM is restarted."
        return Finding("chips", ok=False, words="no /dev/accel0 and no /dev/vfio/0", fix=fix)
    paths = ", ".join(plain(chip.path) for chip in facts.chips)
    denied = next((chip for chip in facts.chips if not chip.is_allowed), None)
    if denied is not None:
        fix = f"Run there: sudo usermod -aG {plain(denied.group)} $USER, then log in again."
        return Finding("chips", ok=False, words=f"{paths}: no permission", fix=fix)
    holder = next((holder for chip in facts.chips for holder in chip.holders), None)
    if holder is not None:
        words = f"{paths}: in use by process {holder.pid}: {plain(holder.words)[:120]}"
        return Finding(
            "chips", ok=False, words=words, fix="Stop that run, or terminate the process."
        )
    return Finding("chips", ok=True, words=f"{paths}: free")


def _preempted(facts: Facts) -> Iterator[Finding]:
    if facts.cloud.get("is_preempted", "").upper() == "TRUE":
        words = "This TPU VM was preempted by Google."
        yield Finding("preempted", ok=False, words=words, fix="Delete the VM and create it again.")
    accelerator = plain(facts.cloud.get("accelerator", ""))
    if accelerator:
        is_old_enough = not accelerator.lower().startswith("tpu7x")
        fix = "TPU7x needs JAX: use a v5e, v5p or v6e."
        yield Finding.judged("accelerator", accelerator, fix, ok=is_old_enough)
