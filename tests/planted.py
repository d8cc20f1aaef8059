"""Links planted where the program writes, and what has changed outside of its folders since."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

RUN = "2026-01-01_00-00-00_planted"
"""The name of the run whose files are links."""

RUN_FILES = (
    "events.jsonl", "events.reserve", "events.jsonl.anew", "control", "retry", "worker.lock", "log.txt",
    "crash.txt", "target.json", "extensions.json", "link.json", "remote.json", "mirror.txt", "weights.npz",
    "model.json", "confusions.bin", "notes.json", "notes.unreadable.json", "waiting",
    "evaluation.json", "image_scores.npz", "references.npz", "robustness.json",
    "origin.json", "cluster.json", "cluster.seal", "refusal.json", "request.json",
)  # fmt: skip
RUN_FOLDERS = ("checkpoints", "tensorboard", "machines", "fetching")
INNER_FILES = (
    "checkpoints/1.npz", "checkpoints/2.npz", "checkpoints/.workbench-save-0123456789abcdef",
    ".workbench-save-0123456789abcdef",
)  # fmt: skip
INNER_FOLDERS = ("tensorboard/train", "tensorboard/validation")
RUNS_FILES = (
    "runs/.runs-index", "runs/.queue.lock", "runs/.series.lock", "runs/.run-numbers", "runs/.run-numbers.lock",
    "runs/.workbench-save-0123456789abcdef",
)  # fmt: skip
HOME_FILES = (
    "settings.json", "window.ini", "logs/window.log", "logs/faults.log", "hosts.json",
    "known_hosts", "known-places.json", "outside-runs.json", "cache/speeds.json", "queue.key",
)  # fmt: skip
HOME_FOLDERS = (
    "logs", "recovery", "recovery/discarded", "cache/plans", "cache/pictures", "cache/arrays",
    "cache/parcels",
)  # fmt: skip
EXPORTS = {
    "model.keras": ("keras",), "model.weights.h5": ("weights",), "script.py": ("python",),
}  # fmt: skip
EXPORT_FILES = (
    *EXPORTS, "train.ipynb", "answers.csv", "curves.csv", "curves-epochs.csv",
    ".workbench-save-0123456789abcdef",
)  # fmt: skip
PROJECT_FILES = (".workbench-save-0123456789abcdef", "new.workbench", "p.lock", "p.reserve")
LINKED_RUN, BEHIND_LINK = "(the run folder)", "(a folder above the run)"


@dataclass(frozen=True)
class Sandbox:
    """Folders of one case.

    Attributes:
        root: All of it.
        home: Settings, runs and caches ($WORKBENCH_HOME).
        projects: A project and what is beside it.
        exports: An empty folder that files are exported to.
        outside: Files and folders that nothing may change.
    """

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def projects(self) -> Path:
        return self.root / "projects"

    @property
    def exports(self) -> Path:
        return self.root / "exports"

    @property
    def outside(self) -> Path:
        return self.root / "outside"

    @property
    def run(self) -> Path:
        """The planted run, wherever it is now."""
        direct = self.home / "runs" / RUN
        behind = self.home / "runs" / "group" / RUN
        return direct if direct.exists() or not behind.exists() else behind

    def copied_to(self, root: Path) -> Sandbox:
        """A fresh copy, for the next case."""
        shutil.copytree(self.root, root, symlinks=True)
        return Sandbox(root)

    def fill_outside(self) -> None:
        """Makes what nothing may change, among it what a sweep, a prune or a trash would take."""
        folder = self.outside / "folder"
        folder.mkdir(parents=True)
        (self.outside / "file").write_bytes(b"of the user\n" * 100)
        for name in ("1.npz", "2.npz", "best-1.npz", "log.txt", "old.workbench", "old.npy"):
            (folder / name).write_bytes(f"of the user: {name}\n".encode())
        (folder / ".workbench-save-00000000000000ff").write_bytes(b"of the user")
        for path in folder.iterdir():
            os.utime(path, (1, 1))


def places() -> Iterable[str]:
    """Every place that a link is planted at, as `plant` takes it."""
    yield from RUNS_FILES
    yield from (f"RUN/{name}" for name in (*RUN_FILES, *INNER_FILES, *RUN_FOLDERS, *INNER_FOLDERS))
    yield from (LINKED_RUN, BEHIND_LINK)
    yield from HOME_FILES
    yield from HOME_FOLDERS
    yield from (f"PROJECTS/{name}" for name in PROJECT_FILES)
    yield from (f"EXPORTS/{name}" for name in EXPORT_FILES)


def together() -> dict[str, tuple[str, ...]]:
    """Places by name that links are planted at together: where a trainer goes on in spite of each."""
    refused = ("events.jsonl", "worker.lock", "log.txt", "crash.txt", "request.json")
    late = [name for name in (*RUN_FILES, *INNER_FILES) if name not in (*refused, "waiting")]
    return {
        **{place: (place,) for place in RUNS_FILES[:2]},
        **{f"RUN/{name}": (f"RUN/{name}",) for name in refused},
        "other files of the run": tuple(f"RUN/{name}" for name in late if name != "remote.json"),
        "folders of the run": tuple(f"RUN/{name}" for name in RUN_FOLDERS),
        "folders in those": tuple(f"RUN/{name}" for name in INNER_FOLDERS),
        LINKED_RUN: (LINKED_RUN,),
        BEHIND_LINK: (BEHIND_LINK,),
        "files of settings and caches": HOME_FILES,
        "folders of settings and caches": tuple(one for one in HOME_FOLDERS if "/d" not in one),
        "beside a project": tuple(f"PROJECTS/{name}" for name in PROJECT_FILES),
        "exports": tuple(f"EXPORTS/{name}" for name in EXPORT_FILES),
    }  # fmt: skip


def plant(sandbox: Sandbox, place: str, *, is_dangling: bool = False) -> None:
    """Replaces what is at a place by a link to outside.

    A file's content moves outside with it, so that readers go on; `is_dangling` links lead to where
    there is nothing.
    """
    if place in (LINKED_RUN, BEHIND_LINK):
        _plant_run(sandbox, place)
        return
    path = _path_of(sandbox, place)
    if any(parent.is_symlink() for parent in path.parents):
        return  # it is behind another planted link
    path.parent.mkdir(parents=True, exist_ok=True)
    if _is_folder(place):
        if path.exists():
            shutil.rmtree(path)
        path.symlink_to(sandbox.outside / ("nothing" if is_dangling else "folder"))
        return
    if is_dangling:
        path.unlink(missing_ok=True)
        path.symlink_to(sandbox.outside / "nothing")
        return
    target = sandbox.outside / "file"
    if path.exists():
        target = sandbox.outside / f"moved {path.name}"
        path.replace(target)
    path.symlink_to(target)


def _plant_run(sandbox: Sandbox, place: str) -> None:
    runs = sandbox.home / "runs"
    (sandbox.outside / "group").mkdir()
    (runs / RUN).replace(sandbox.outside / "group" / RUN)
    if place == LINKED_RUN:
        (runs / RUN).symlink_to(sandbox.outside / "group" / RUN)
    else:
        (runs / "group").symlink_to(sandbox.outside / "group")


def _path_of(sandbox: Sandbox, place: str) -> Path:
    first, _, rest = place.partition("/")
    folders = {"RUN": sandbox.run, "PROJECTS": sandbox.projects, "EXPORTS": sandbox.exports}
    return folders[first] / rest if first in folders else sandbox.home / place


def _is_folder(place: str) -> bool:
    names = (*HOME_FOLDERS, *(f"RUN/{name}" for name in (*RUN_FOLDERS, *INNER_FOLDERS)))
    return place in names


def state_of(folder: Path) -> dict[str, tuple[object, ...]]:
    """Kind, permissions, size, time of change and content of everything below a folder."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted([folder, *folder.rglob("*")]):
        info = path.lstat()
        content = ""
        if path.is_symlink():
            content = os.readlink(path)  # noqa: PTH115
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        size = info.st_size if path.is_file() else 0
        found[str(path.relative_to(folder))] = (info.st_mode, size, info.st_mtime_ns, content)
    return found


def changes(before: dict[str, tuple[object, ...]], folder: Path) -> list[str]:
    """Names below a folder that are new, gone or other than before."""
    after = state_of(folder)
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
