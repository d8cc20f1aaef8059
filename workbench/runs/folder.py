"""A run's folder: its request (never changed), its events, and its results.

request.json   what to train: the whole project, its title and origin; written once
events.jsonl   numbered events, appended by the trainer (event_log.py)
control        the last command to the trainer (control.py)
worker.lock    locked while the trainer is running (lock.py)
log.txt        everything the trainer and its libraries printed
crash.txt      the stack of a crash below Python
weights.npz    the weights kept, and model.json, all that classifying needs beside them
checkpoints/   from where the run can be resumed (checkpoint.py)
confusions.bin one confusion matrix an epoch (confusions.py)
notes.json     title, tags and note that people gave it (notes.py)
waiting        it waits for its turn (queue.py)
origin.json    the machine and the pictures it was computed from (origin.py)
target.json    where it goes on since it was moved (elsewhere.py)
link.json, remote.json, courier.txt   of a run that another computer trains (link.py)
cluster.json   which of several machines it is of, where a courier has started them all
refusal.json   why another of them cannot take part (worker/cluster/chief.py)
machines/      logs of the other processes, where several machines train together
tensorboard/   its curves as event files (worker/trainer/tensorboard.py)

Beside the runs: `.runs-index`, a cache for their list (index.py), and `.queue.lock`.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import parse_project, project_text
from workbench.core.storage.json_file import DAMAGED, refuse_newer, save_json
from workbench.core.storage.save import save_bytes
from workbench.errors import RunFolderError, SaveError, os_errors_as
from workbench.runs.home import runs_home
from workbench.runs.lock import is_locked
from workbench.runs.model_card import CARD_NAME, WEIGHTS_NAME, ModelCard, read_card
from workbench.runs.ownership import check_own

REQUEST_VERSION = 1
_REQUEST_NAME = "request.json"
_MAX_REQUEST_BYTES = 64 * 1024 * 1024


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is to train, and how.

    Attributes:
        project: The project as project-file JSON.
        title: Words for people.
        project_path: File the project came from, "" when it was never saved.
        created: Seconds since the epoch.
        parcel: Name by content of the pictures as they were packed elsewhere, to be loaded
            from `parcels_home` instead of the project's data set; "" for none.
        on: The computer that trains it, as those call it who sent it there; "" for this one.
    """

    project: dict[str, Any]
    title: str = ""
    project_path: str = ""
    created: float = 0.0
    parcel: str = ""
    on: str = ""
    format: str = "workbench-run"
    version: int = REQUEST_VERSION

    def to_project(self) -> Project:
        """The project to train; raises ProjectFileError when it is damaged."""
        return parse_project(msgspec.json.encode(self.project).decode(), "request.json")


class _Target(msgspec.Struct, frozen=True, kw_only=True):
    """What `target.json` holds."""

    key: str
    params: dict[str, Any] = {}


class _Inside:
    """A file or folder of a run by its name in the run's folder."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, run: RunFolder, _owner: type[RunFolder]) -> Path:
        return run.path / self._name


@dataclass(frozen=True)
class RunFolder:
    """One run by its folder. A value: it holds a path, nothing is kept open."""

    path: Path

    request_path = _Inside(_REQUEST_NAME)
    events_path = _Inside("events.jsonl")
    control_path = _Inside("control")
    lock_path = _Inside("worker.lock")
    log_path = _Inside("log.txt")
    crash_path = _Inside("crash.txt")
    target_path = _Inside("target.json")
    link_path = _Inside("link.json")
    remote_path = _Inside("remote.json")
    courier_log_path = _Inside("courier.txt")
    weights_path = _Inside(WEIGHTS_NAME)
    card_path = _Inside(CARD_NAME)
    checkpoints_path = _Inside("checkpoints")

    @property
    def name(self) -> str:
        return self.path.name

    def machine_path(self, number: int) -> Path:
        """The folder of another machine's process that was started here; counted from 1."""
        return self.path / "machines" / str(number)

    def request(self) -> RunRequest:
        """The run's request; raises RunFolderError where it is missing, damaged or newer."""
        try:
            if self.request_path.stat().st_size > _MAX_REQUEST_BYTES:
                raise RunFolderError("The run's request is too large.", where=str(self.path))
            request = msgspec.json.decode(self.request_path.read_bytes(), type=RunRequest)
        except OSError as error:
            raise RunFolderError(
                "This is not a run folder: its request cannot be read.",
                where=str(self.request_path),
                received=error.strerror or str(error),
                expected="a run folder, as `workbench runs` lists them",
            ) from error
        except DAMAGED as error:
            raise RunFolderError(
                "The run's request is damaged.",
                where=str(self.request_path),
                received=str(error),
                fix="Train its project again.",
            ) from error
        what = "The run was made by a newer version of Workbench."
        refuse_newer(RunFolderError, what, self.request_path, request.version, REQUEST_VERSION)
        return request

    def project(self) -> Project:
        """What to train, at the requested target, or the one it was moved to last.

        Raises:
            RunFolderError: as `request` and `moved_to`.
            ProjectFileError: the project is damaged.
        """
        project = self.request().to_project()
        target = self.moved_to()
        return project if target is None else replace(project, target=target)

    def moved_to(self) -> Choice | None:
        """The target it was moved to, None for no other; raises RunFolderError if damaged."""
        try:
            found = msgspec.json.decode(self.target_path.read_bytes(), type=_Target)
        except FileNotFoundError:
            return None
        except (OSError, *DAMAGED) as error:
            raise RunFolderError(
                "The file with the target of the run is damaged.",
                where=str(self.target_path),
                received=str(error),
                fix="Choose the target again: `workbench resume RUN --target TARGET`.",
            ) from error
        return Choice(found.key, found.params)

    def move_to(self, target: Choice) -> None:
        """Keeps where it goes on; its request stays unchanged. Raises SaveError."""
        check_own(self.path)
        moved = _Target(key=target.key, params=dict(target.params))
        save_bytes(self.target_path, msgspec.json.encode(moved))

    def has_model(self) -> bool:
        """True when weights were kept, so that pictures can be classified."""
        return self.card_path.is_file() and self.weights_path.is_file()

    def model_card(self) -> ModelCard:
        """What is needed beside the weights; raises RunFolderError when there is none."""
        return read_card(self.path)

    def is_alive(self) -> bool:
        """True while a trainer works on this run."""
        return is_locked(self.lock_path)

    def log_tail(self, *, max_lines: int = 20) -> tuple[str, ...]:
        """The last lines that the trainer printed, without control characters."""
        return tail_lines(self.log_path, max_lines=max_lines)


def tail_bytes(path: Path, max_bytes: int) -> bytes:
    """The last bytes of a file; none where it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - max_bytes))
            return file.read()
    except OSError:
        return b""


def tail_lines(path: Path, *, max_lines: int, max_bytes: int = 64 * 1024) -> tuple[str, ...]:
    """The last non-empty lines of a text file; nothing where it does not exist."""
    text = tail_bytes(path, max_bytes).decode("utf-8", "replace")
    lines = (re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", line) for line in text.splitlines())
    return tuple([line[:1000] for line in lines if line.strip()][-max_lines:])


def create_run(
    project: Project,
    *,
    title: str = "",
    project_path: str = "",
    home: Path | None = None,
    path: Path | None = None,
) -> RunFolder:
    """Makes the folder of a new run; nothing is started.

    Args:
        project: What to train.
        title: Words for people; the project's title where empty.
        project_path: File the project came from.
        home: Folder to make it in; the user's runs where None.
        path: The exact folder, instead of a new one in `home`; must not be a run already.

    Raises:
        SaveError: the folder cannot be written.
        RunFolderError: `path` holds something already.
    """
    title = title or project.title or Path(project_path).stem or "Untitled"
    request = RunRequest(
        project=msgspec.json.decode(project_text(project)),
        title=title,
        project_path=project_path,
        created=time.time(),
    )
    folder = _exact_folder(path) if path is not None else _new_folder(home or runs_home(), title)
    run = RunFolder(folder)
    save_json(run.request_path, request)
    return run


def _exact_folder(path: Path) -> Path:
    path = path.absolute()
    check_own(path)
    with _making(path):
        path.mkdir(parents=True, exist_ok=True)
        is_empty = not any(path.iterdir())
    if not is_empty:
        raise RunFolderError(
            "The folder for the run is not empty.",
            where=str(path),
            expected="a new or empty folder",
            fix="Choose another folder.",
        )
    return path


def _new_folder(home: Path, title: str) -> Path:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "run"
    stem = f"{time.strftime('%Y-%m-%d_%H-%M-%S')}_{words}"
    number = 1
    while True:
        path = home / (stem if number == 1 else f"{stem}_{number}")
        with _making(path):
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                number += 1
            else:
                return path


def _making(path: Path) -> AbstractContextManager[None]:
    fix = "Choose a folder that you may write to, on a disk with free space."
    return os_errors_as(SaveError, "The run folder could not be created.", path, fix=fix)


def open_run(path_or_name: str | Path, *, home: Path | None = None) -> RunFolder:
    """A run by its folder, or by its name (or the start of it) among the user's runs; raises
    RunFolderError that lists the latest names.
    """
    path = Path(path_or_name).expanduser()
    if (path / _REQUEST_NAME).is_file():
        return RunFolder(path.absolute())
    home = home or runs_home()
    names = sorted(p.parent.name for p in home.glob(f"*/{_REQUEST_NAME}"))
    text = str(path_or_name)
    matching = [name for name in names if name == text] or [
        name for name in names if text and name.startswith(text)
    ]
    if len(matching) == 1:
        return RunFolder(home / matching[0])
    raise RunFolderError(
        "Unknown run." if not matching else "Several run names start like this.",
        where=str(home),
        received=text,
        expected=", ".join((matching or names)[-5:]) or "a run folder (there are no runs yet)",
        fix="List the runs with `workbench runs`.",
    )


def find_model(path_or_name: str | Path) -> str:
    """The absolute path of something that can classify: a `.keras` file, or the folder of a run
    with weights, by its path or name. Raises RunFolderError where there is no such run, or no
    weights.
    """
    path = Path(path_or_name).expanduser()
    if path.is_file():
        return str(path.absolute())
    run = open_run(path_or_name)
    run.model_card()
    return str(run.path)
