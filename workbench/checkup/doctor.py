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

from workbench.core.format import bytes_text
from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import target_text
from workbench.core.specs import TargetSpec
from workbench.errors import WorkbenchError
from workbench.host.memory import memory_limit
from workbench.parts import PARTS, TRAIN, Part
from workbench.runs.home import cache_home, data_home, runs_home
from workbench.targets import all_targets

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
