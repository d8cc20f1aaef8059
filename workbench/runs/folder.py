"""A run's folder: its request (never changed), its events, and its results.

request.json   what to train: the whole project, its title and origin; written once (request.py)
events.jsonl   numbered events, appended by the trainer (event_log.py)
control        the last command to the trainer (control.py)
retry          the run's mirror shall try to connect now (control.py)
worker.lock    locked while the trainer is running (lock.py)
log.txt        everything the trainer and its libraries printed
crash.txt      the stack of a crash below Python
weights.npz    the weights kept, and model.json, all that classifying needs beside them
initial.npz    the weights of another run that it starts from (initial_weights.py)
references.npz what the distance from the training images is measured by (references.py)
checkpoints/   from where the run can be resumed (checkpoint.py)
confusions.bin one confusion matrix an epoch (confusions.py)
evaluation.json  the latest evaluation of its model (evaluation.py)
robustness.json, robustness_suite.json   its accuracy on altered test images (robustness.py)
image_scores.npz  what it answered for each image there (image_scores.py)
class_scores.npz  the probability of each class for each of them (class_scores.py)
notes.json     title, tags and note that people gave it (notes.py)
waiting        it waits for its turn (queue.py)
origin.json    the machine and the images it was computed from (origin.py)
target.json    where it goes on since it was moved (elsewhere.py)
extensions.json  more epochs than the request plans (extensions.py)
link.json, remote.json, mirror.txt   of a run that another computer trains (link.py)
cluster.json   which of several machines it is of, where a run mirror has started them all
cluster.seal   the mark that it was put there on behalf of this user (seal.py)
refusal.json   why another of them cannot take part (worker/cluster/chief.py)
machines/      logs of the other processes, where several machines train together
tensorboard/   its curves as event files (worker/trainer/tensorboard.py)

Beside the runs: `.runs-index`, a cache for their list (index.py), `.run-numbers` (numbers.py),
and locks.
"""

from __future__ import annotations

import re
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.core.storage.file_tail import tail_lines
from workbench.core.storage.foreign_file import REQUEST_BYTES, SMALL_BYTES, read_foreign
from workbench.core.storage.json_file import DAMAGED, decode_json, refuse_newer, save_json
from workbench.core.storage.own_file import make_private
from workbench.errors import ProjectFileError, RunFolderError, SaveError, os_errors_as
from workbench.runs.extensions import (
    Extension,
    Extensions,
    has_extensions,
    read_extensions,
    write_extensions,
)
from workbench.runs.home import runs_home
from workbench.runs.lock import is_locked
from workbench.runs.model_card import CARD_NAME, WEIGHTS_NAME, ModelCard, read_card
from workbench.runs.naming import differing, network_words
from workbench.runs.numbers import numbered_runs, take_number
from workbench.runs.ownership import check_own
from workbench.runs.request import REQUEST_VERSION, InitialWeights, RunRequest, SweepPoint

_REQUEST_NAME = "request.json"


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
    retry_path = _Inside("retry")
    sender_path = _Inside("control_sender")
    lock_path = _Inside("worker.lock")
    log_path = _Inside("log.txt")
    crash_path = _Inside("crash.txt")
    target_path = _Inside("target.json")
    link_path = _Inside("link.json")
    remote_path = _Inside("remote.json")
    mirror_log_path = _Inside("mirror.txt")
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
        """The run's request, with the epochs that it was extended to.

        Raises RunFolderError where it is missing, damaged or newer.
        """
        try:
            data = read_foreign(self.request_path, REQUEST_BYTES)
            request: RunRequest = decode_json(data, RunRequest)
        except OSError as error:
            raise RunFolderError(
                "This is not a run folder: its request cannot be read.",
                where=str(self.request_path),
                received=error.strerror or str(error),
                expected="a run folder",
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
        return request.extended(self.extensions())

    def extensions(self) -> Extensions:
        """The times that it was extended, as far as they are in force."""
        if not has_extensions(self.path):
            return Extensions()
        is_alive = self.is_alive()  # before the log: a trainer that has just ended has logged
        return read_extensions(self.path, log_bytes=self._log_bytes(), is_alive=is_alive)

    def extend(self, extension: Extension | None) -> None:
        """Plans more epochs, for the trainer that is about to be resumed and those behind it; None
        forgets what was planned for one that never began. Raises SaveError.
        """
        if extension is None and not has_extensions(self.path):
            return
        check_own(self.path)
        size = self._log_bytes()
        kept = read_extensions(self.path, log_bytes=size, is_alive=False).entries
        new = [] if extension is None else [msgspec.structs.replace(extension, log_bytes=size)]
        write_extensions(self.path, Extensions(entries=[*kept, *new]))

    def _log_bytes(self) -> int:
        try:
            return self.events_path.stat().st_size
        except OSError:
            return 0

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
            found: _Target = decode_json(read_foreign(self.target_path, SMALL_BYTES), _Target)
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
        save_json(self.target_path, moved)

    def is_gone(self) -> bool:
        """Whether the folder was removed, or its disk; not where it only may not be read."""
        try:
            self.request_path.stat()
        except PermissionError:
            return False
        except OSError:
            return True
        return False

    def has_model(self) -> bool:
        """True when weights were kept, so that images can be classified."""
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


def create_run(
    project: Project,
    *,
    title: str = "",
    project_path: str = "",
    label: str = "",
    series: str = "",
    point: SweepPoint | None = None,
    initial: InitialWeights | None = None,
    home: Path | None = None,
    path: Path | None = None,
) -> RunFolder:
    """Makes the folder of a new run, with the next number of its project; nothing is started.

    Args:
        project: What to train.
        title: Words for people; the project's title where empty.
        project_path: File the project came from.
        label: Words that name it in place of its settings.
        series: As in RunRequest.
        point: As in RunRequest.
        initial: As in RunRequest; `store.initial_weights` writes them.
        home: Folder to make it in; the user's runs where None.
        path: The exact folder, for a run without a number; must not be a run already.

    Raises:
        SaveError, RunError, RunFolderError: it cannot be written, or `path` holds something.
    """
    home = home or runs_home()
    number, differs, network = (0, [], "") if path else _number_and_differences(project, home)
    title = title or project.title or Path(project_path).stem or "Untitled"
    request = _new_request(project, title, project_path, number, differs)
    request = msgspec.structs.replace(
        request, network=network, label=label, series=series, point=point, initial=initial
    )
    return _written(request, _exact_folder(path) if path else _new_folder(home, title))


def _new_request(
    project: Project, title: str, project_path: str, number: int, differs: list[str]
) -> RunRequest:
    return RunRequest(
        project=msgspec.json.decode(project_text(project)),
        title=title,
        project_path=project_path,
        number=number,
        differs=differs,
        created=time.time(),
    )


def _written(request: RunRequest, folder: Path) -> RunFolder:
    run = RunFolder(folder)
    save_json(run.request_path, request)
    return run


def _number_and_differences(project: Project, home: Path) -> tuple[int, list[str], str]:
    """The number of the next run of a project, what in it is new, and what in its network is."""
    if not project.id:
        return 0, [], ""
    known = numbered_runs(home, project.id)
    paths = list(known.values())
    found = (_requested(RunFolder(path)) for path in [*paths[-1:], *paths[:1]])
    others = [other for other in found if other is not None]
    networks = (network_words(other.graph, project.graph) for other in others)
    network = next(filter(None, networks), "")
    return take_number(home, project.id, known), differing(project, others), network


def _requested(run: RunFolder) -> Project | None:
    """What a run was to train; None where its request is damaged."""
    try:
        return run.request().to_project()
    except (RunFolderError, ProjectFileError):
        return None


def _exact_folder(path: Path) -> Path:
    path = path.absolute()
    check_own(path)
    with _making(path):
        make_private(path)
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
                make_private(path.parent)
                path.mkdir(mode=0o700)
            except FileExistsError:
                number += 1
            else:
                return path


def _making(path: Path) -> AbstractContextManager[None]:
    fix = "Choose a folder that you may write to, on a disk with free space."
    return os_errors_as(SaveError, "The run folder could not be created.", path, fix=fix)
