"""What could keep a training from starting on a target, looked at step by step before it is
tried. Nothing here imports TensorFlow, and every step has its own deadline.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import msgspec

from workbench.core.format import bytes_text
from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import target_text
from workbench.core.specs import TargetSpec
from workbench.errors import RemoteError, WorkbenchError
from workbench.host.memory import memory_limit
from workbench.parts import PARTS, TRAIN, Part
from workbench.remote.ssh import saved_hosts
from workbench.remote.ssh.command import RemoteHost, plain
from workbench.remote.ssh.connection import Connection
from workbench.runs.home import cache_home, data_home, runs_home
from workbench.targets import all_targets
from workbench.targets.gpu import SPEC as GPU
from workbench.targets.ssh import SPEC as SSH
from workbench.targets.ssh import trains_on
from workbench.targets.tpu import SPEC as TPU

_LOW_DISK_BYTES = 2 * 10**9
_LOW_MEMORY_BYTES = 3 * 10**9
_PYTHONS = ((3, 11), (3, 14))
"""From the first on, and before the second."""


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        check: Key of what was checked.
        ok: Whether it is as it must be.
        words: What is there.
        fix: What to do where it is not ok.
        is_missing: It is not there, and not needed.
    """

    check: str
    ok: bool
    words: str
    fix: str = ""
    is_missing: bool = False

    @classmethod
    def judged(cls, check: str, words: str, fix: str, *, ok: bool) -> Finding:
        """A finding with its remedy, which is dropped where none is needed."""
        return cls(check, ok, words, "" if ok else fix)

    @classmethod
    def of(cls, check: str, error: WorkbenchError) -> Finding:
        """An error as a finding."""
        words = " ".join(filter(None, (error.what, error.received and f"({error.received})")))
        return cls(check, ok=False, words=words, fix=error.fix)

    def to_dict(self) -> dict[str, object]:
        """The finding as JSON values."""
        return {key: part for key, part in asdict(self).items() if key != "is_missing"}


Examine = Callable[[Choice], Iterator[Finding]]
"""Checks a target on another computer, over the connection to it."""


def examine(target: Choice, far: Examine | None = None) -> Iterator[Finding]:
    """Checks this computer, and a target that is reached from it.

    Args:
        target: Where training is meant to run.
        far: Checks targets on other computers, where there is a way to them; without it,
            what can be said from here is said.
    """
    spec = all_targets().get(target.key)
    is_remote = spec is not None and spec.is_remote(target.params)
    yield from examine_computer(trains=not is_remote)
    if far is not None and is_remote:
        yield from far(target)
    else:
        yield examine_target(target)


def examine_computer(*, trains: bool = True) -> Iterator[Finding]:
    """Python, parts, memory, disk and folders of this computer, which is to train or not."""
    yield _python()
    for part in PARTS:
        yield _part(part, is_needed=trains and part is TRAIN)
    yield _memory()
    for check, folder in (("runs folder", runs_home()), ("cache folder", cache_home())):
        yield _folder(check, folder)
    yield _disk(data_home())
    yield _ssh()


def examine_target(target: Choice) -> Finding:
    """What a target's own check finds."""
    targets = all_targets()
    spec = targets.get(target.key)
    if spec is None:
        words = f"Unknown target {target.key}."
        return Finding("target", ok=False, words=words, fix="`workbench targets` lists them.")
    params, errors = check_all(spec.params, target.params)
    problem = errors[0] if errors else spec.probe(params)
    check = target_text(target, targets)
    if problem is not None:
        return Finding.of(check, problem)
    replicas = spec.replicas(params)
    words = f"{spec.describe(params)}; {replicas:,} replica{'s' if replicas > 1 else ''}"
    return Finding(check, ok=True, words=f"Ready: {words}.")


@dataclass(frozen=True)
class OfferedTarget:
    """A place to train, why it is named ("" for those that are always there), and the name that
    its user has given it, if any.
    """

    spec: TargetSpec
    choice: Choice
    why: str = ""
    name: str = ""


def offered_targets(variables: Mapping[str, str]) -> Iterator[OfferedTarget]:
    """Every kind of target with its defaults, and every place that the environment names.

    Args:
        variables: `os.environ`, or another computer's.
    """
    for spec in all_targets().values():
        yield OfferedTarget(spec, Choice(spec.key, check_all(spec.params, {})[0]))
    for spec in all_targets().values():
        for params, why in spec.found(variables):
            yield OfferedTarget(spec, Choice(spec.key, check_all(spec.params, params)[0]), why)


def _python() -> Finding:
    low, high = _PYTHONS
    words = f"Python {platform.python_version()} at {sys.executable}"
    fix = f"Use Python {low[0]}.{low[1]} to {high[0]}.{high[1] - 1}."
    return Finding.judged("python", words, fix, ok=low <= sys.version_info[:2] < high)


def _part(part: Part, *, is_needed: bool) -> Finding:
    """Parts that are not needed are named, too: where one is missing is seen before it is used."""
    found = [f"{name} {version}" for name in part.packages if (version := _version(name))]
    if part.is_installed:
        return Finding(part.key, ok=True, words=", ".join(found) or "installed")
    words, fix = f"not installed; for {part.purpose}", f"{part.install_words}."
    if is_needed:
        return Finding(part.key, ok=False, words=words, fix=fix)
    return Finding(part.key, ok=True, words=f"{words}. {fix}", is_missing=True)


def _version(name: str) -> str:
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(name)
    return ""


def _memory() -> Finding:
    total = memory_limit()
    if not total:
        return Finding("memory", ok=True, words="unknown")
    fix = "TensorFlow alone takes 1 GB: train only small models here."
    return Finding.judged("memory", bytes_text(total), fix, ok=total >= _LOW_MEMORY_BYTES)


def _folder(check: str, folder: Path) -> Finding:
    existing = _existing(folder)
    is_writable = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    fix = "Make it writable, or set WORKBENCH_HOME to another folder."
    return Finding.judged(check, str(folder), fix, ok=is_writable)


def _disk(folder: Path) -> Finding:
    folder = _existing(folder)
    free = shutil.disk_usage(folder).free
    words = f"{bytes_text(free)} free at {folder}"
    fix = "Free some space for checkpoints and cached images."
    return Finding.judged("disk", words, fix, ok=free >= _LOW_DISK_BYTES)


def _existing(folder: Path) -> Path:
    """A folder, or the nearest above it that is there."""
    return next(each for each in (folder, *folder.parents) if each.exists())


def _ssh() -> Finding:
    program = shutil.which("ssh")
    # Only other computers need it; that there is none is reported when one of them is chosen.
    return Finding(
        "ssh",
        ok=True,
        words=program or "not installed: training on other computers is not possible",
    )


# remote doctor -------------------------------------------------------------------------------
# What could keep a training from starting on another computer: checked over its connection.

_LOW_REMOTE_DISK_BYTES = 4 * 10**9
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
    yield _remote_python(facts, python)
    for check, count, low, what, fix in (
        ("memory", facts.memory_bytes, _LOW_MEMORY_BYTES, "", "Use a computer with more memory."),
        ("disk", facts.free_bytes, _LOW_REMOTE_DISK_BYTES, " free", _FREE_SPACE),
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


def _remote_python(facts: Facts, named: str) -> Finding:
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
