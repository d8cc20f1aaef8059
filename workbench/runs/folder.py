"""A run's folder: its request (never changed), its events, and its results.

request.json   what to train: the whole project, its title and origin; written once (this module)
events.jsonl   numbered events, appended by the trainer (log/event_log.py)
control        the last command to the trainer (control.py)
retry          the run's mirror shall try to connect now (control.py)
worker.lock    locked while the trainer is running (this module)
log.txt        everything the trainer and its libraries printed
crash.txt      the stack of a crash below Python
weights.npz    the weights kept, and model.json, all that classifying needs beside them
initial.npz    the weights of another run that it starts from (store/weights_file.py)
references.npz what the distance from the training images is measured by (store/image_features.py)
checkpoints/   from where the run can be resumed (store/checkpoint.py)
confusions.bin one confusion matrix an epoch (log/confusion_history.py)
evaluation.json  the latest evaluation of its model (store/evaluation.py)
robustness.json, robustness_suite.json   its accuracy on altered test images (store/evaluation.py)
image_scores.npz  what it answered for each image there (store/image_scores.py)
class_scores.npz  the probability of each class for each of them (store/image_scores.py)
notes.json     title, tags and note that people gave it (store/notes.py)
waiting        it waits for its turn (state/queue.py)
origin.json    the machine and the images it was computed from (store/checkpoint.py)
target.json    where it goes on since it was moved (this module)
extensions.json  more epochs than the request plans (this module)
link.json, remote.json, mirror.txt   of a run that another computer trains (link.py)
cluster.json   which of several machines it is of, where a run mirror has started them all
cluster.seal   the mark that it was put there on behalf of this user (trust.py)
refusal.json   why another of them cannot take part (worker/cluster/chief.py)
machines/      logs of the other processes, where several machines train together
tensorboard/   its curves as event files (worker/trainer/tensorboard.py)

Beside the runs: `.runs-index`, a cache for their list (library/index.py), `.run-numbers`
(naming.py), and locks.
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
from workbench.core.storage import own_file
from workbench.core.storage.foreign_file import REQUEST_BYTES, SMALL_BYTES, read_foreign, tail_lines
from workbench.core.storage.json_file import (
    DAMAGED,
    decode_json,
    read_json,
    refuse_newer,
    save_json,
)
from workbench.core.storage.own_file import make_private
from workbench.errors import ProjectFileError, RunFolderError, SaveError, os_errors_as
from workbench.protocol.bases import Whole
from workbench.runs.home import check_own, runs_home
from workbench.runs.model_card import CARD_NAME, WEIGHTS_NAME, ModelCard, read_card
from workbench.runs.naming import differing, network_words, numbered_runs, take_number

# extensions ----------------------------------------------------------------------------------
# More epochs than a run's request plans: `extensions.json`, one entry each time it was extended.
#
# An entry is in force once the trainer that was started for it holds the run's lock or has logged
# something: one that never began changes nothing.

NAME = "extensions.json"


class Extension(msgspec.Struct, frozen=True, kw_only=True):
    """One time that a run was extended.

    Attributes:
        after: Epochs that were done.
        before: All epochs that were planned until then.
        epochs: All epochs planned from then on.
        restarts_patience: Early stopping had ended it; its patience is counted from there.
        log_bytes: Size of the event log at that time; set by `RunFolder.extend`.
    """

    after: Whole
    before: Whole
    epochs: Whole
    restarts_patience: bool = False
    log_bytes: Whole = 0


class Extensions(msgspec.Struct, frozen=True, kw_only=True):
    """What the file holds, oldest first."""

    entries: list[Extension] = []
    format: str = "workbench-extensions"
    version: Whole = 1

    @property
    def epochs(self) -> int:
        """All epochs planned now; 0 for those of the request."""
        return self.entries[-1].epochs if self.entries else 0

    @property
    def patience_from(self) -> int:
        """The epoch from which the patience of early stopping is counted, 0 for the best one."""
        return max((one.after for one in self.entries if one.restarts_patience), default=0)


def has_extensions(folder: Path) -> bool:
    """Whether a run was ever extended. Cheap: one look at a file."""
    return (folder / NAME).exists()


def read_extensions(folder: Path, *, log_bytes: int, is_alive: bool) -> Extensions:
    """The entries that are in force, of a run whose event log has this size now."""
    found = read_json(folder / NAME, Extensions) or Extensions()
    if is_alive:
        return found
    return Extensions(entries=[one for one in found.entries if one.log_bytes < log_bytes])


def write_extensions(folder: Path, extensions: Extensions) -> None:
    """Replaces the file; raises SaveError."""
    save_json(folder / NAME, extensions)


# request -------------------------------------------------------------------------------------
# What a run is to train: the content of `request.json` in its folder, written once.

REQUEST_VERSION = 1


class SweepPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a run in a sweep.

    Attributes:
        place: Number of the run in the sweep, from 1.
        combination: Number of its combination of values, from 1: the same for all seeds.
        values: The changed settings and their values, as KEY and VALUE of `workbench set`.
        warm_up: After how many epochs the run may be stopped for being worse than the others
            (`runs.library.series`); 0 for never.
    """

    place: Whole
    combination: Whole
    values: dict[str, str]
    warm_up: Whole = 0


class InitialWeights(msgspec.Struct, frozen=True, kw_only=True):
    """The weights of another run that a run starts from.

    Attributes:
        run: That run: "run 3" of the same project, else the name of its folder.
        epoch: The epoch they are of; 0 where they were not trained here.
        checksum: SHA-256 over them, see `weights_file.array_checksum`.
    """

    run: str
    epoch: Whole
    checksum: str


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is to train, and how.

    Attributes:
        project: The project as project-file JSON.
        title: Words for people: those of the project.
        project_path: File the project came from, "" when it was never saved.
        number: Its number among the runs of the project, from 1; 0 where the project has no
            identity, or the run was made by an earlier version or outside of the folder of runs.
        differs: What of it is not as in the previous run of its project, then what is not as in
            the first, see `naming.differing`.
        network: What in its network is not as in those, in words; "" for the same network.
        label: Words that name it in place of its settings, such as a weights file; "" for none.
        series: The runs that it is trained and compared with, such as those of a cross-validation:
            the same for all of them; "" for none.
        point: Its place in the series, where that is a sweep.
        initial: The weights that it starts from; None for random and pretrained ones.
        created: Seconds since the epoch.
        parcel: Name by content of the images as they were packed elsewhere, to be loaded
            from `parcels_home` instead of the project's data set; "" for none.
        on: The computer that trains it, as those call it who sent it there; "" for this one.
        patience_from: The epoch from which the patience of early stopping is counted, since the run
            was extended; 0 for the best one.
        extension: The last time that the run was extended. As `patience_from`, in the file only if
            it was sent to another computer; here it is in a file of its own.
    """

    project: dict[str, Any]
    title: str = ""
    project_path: str = ""
    number: Whole = 0
    differs: list[str] = []
    network: str = ""
    label: str = ""
    series: str = ""
    point: SweepPoint | None = None
    initial: InitialWeights | None = None
    created: float = 0.0
    parcel: str = ""
    on: str = ""
    patience_from: Whole = 0
    extension: Extension | None = None
    format: str = "workbench-run"
    version: Whole = REQUEST_VERSION

    @property
    def project_id(self) -> str:
        """The identity of its project; "" for a run of an earlier version."""
        found = self.project.get("id", "")
        return found if isinstance(found, str) else ""

    def extended(self, extensions: Extensions) -> RunRequest:
        """The request with the epochs that the run was extended to."""
        if not extensions.epochs:
            return self
        recipe = self.project.get("recipe")
        values = {**(recipe if isinstance(recipe, dict) else {}), "epochs": extensions.epochs}
        return msgspec.structs.replace(
            self,
            project={**self.project, "recipe": values},
            patience_from=max(self.patience_from, extensions.patience_from),
            extension=extensions.entries[-1],
        )

    def to_project(self) -> Project:
        """The project to train; raises ProjectFileError when it is damaged."""
        return parse_project(msgspec.json.encode(self.project).decode(), "request.json")


# lock ----------------------------------------------------------------------------------------
# The proof that a trainer is running: the lock that it holds on a file of its run.

LOCK_FD_VARIABLE = "WORKBENCH_LOCK_FD"
"""Environment variable: number of the locked descriptor that a trainer inherits."""


def is_locked(path: Path) -> bool:
    """True while a trainer holds the run's lock; False too where there is no lock file."""
    try:
        return own_file.is_locked(path)
    except OSError:
        return False


def inherited_lock(path: Path) -> int | None:
    """The descriptor of a run's lock that this process was started with; None without one."""
    text = os.environ.pop(LOCK_FD_VARIABLE, "")
    if not text.isdigit():
        return None
    descriptor = int(text)
    try:
        is_ours = os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return None
    if not is_ours:
        return None
    # Not for child processes: the lock must end with this process.
    os.set_inheritable(descriptor, False)
    own_file.lock_descriptor(descriptor)
    return descriptor


# folder --------------------------------------------------------------------------------------

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
        initial: As in RunRequest; `store.weights_file` writes them.
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
