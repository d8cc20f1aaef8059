"""Whose runs are whose: the runs of the open project, and of each other project; and which run of a
project classifies where nobody has chosen one.

A run has the id of its project. Runs of earlier versions do not: theirs is the project with
their file, or where that was never saved, one of the same title and network.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import PROJECT_SUFFIX, project_to_plain
from workbench.core.storage.json_file import read_json, save_json
from workbench.core.storage.own_file import make_private
from workbench.runs.library.summary import NETWORK, REQUESTED, RunSummary, plain_key
from workbench.runs.log.coaching import NO_RIVAL, Rival

# places --------------------------------------------------------------------------------------
# Last known path of each project's file: a project may be saved, or saved elsewhere, after its
# runs.
#
# `.run-projects` beside the runs holds the last known file of each project by its id.

PLACES_NAME = ".run-projects"
MAX_PLACES = 1000


class _Places(msgspec.Struct, frozen=True):
    files: dict[str, str] = {}
    version: int = 1


def read_places(home: Path) -> dict[str, str]:
    """The last known file of each project by its id; none where they cannot be read."""
    return (read_json(home / PLACES_NAME, _Places) or _Places()).files


def keep_place(home: Path, project_id: str, path: str) -> None:
    """Keeps where a project's file is; raises SaveError."""
    files = read_places(home)
    if files.get(project_id) == path:
        return
    files.pop(project_id, None)
    files[project_id] = path
    make_private(home)
    save_json(
        home / PLACES_NAME, _Places(files=dict(list(files.items())[-MAX_PLACES:])), is_private=True
    )


def as_called_now(runs: Iterable[RunSummary], home: Path) -> list[RunSummary]:
    """Runs with the present file of their project, by which it is called: it may have been saved,
    or saved elsewhere, after they were started.
    """
    files = read_places(home)
    return [_with_file(run, files.get(run.project_id, "")) for run in runs]


def _with_file(run: RunSummary, path: str) -> RunSummary:
    if path in {"", run.project_path}:
        return run
    name = Path(path).name.removesuffix(PROJECT_SUFFIX)
    return msgspec.structs.replace(run, project=name, project_path=path)


def file_of(run: RunSummary, places: dict[str, str]) -> Path | None:
    """The file of a run's project, as far as it is known and there."""
    candidates = (places.get(run.project_id, ""), run.project_path)
    return next((Path(path) for path in candidates if path and Path(path).is_file()), None)


# rival ---------------------------------------------------------------------------------------
# The run that a run is compared with: of the same project and images, and nearest in accuracy.


def rival_of(path: Path, runs: Iterable[RunSummary]) -> Rival:
    """Name and best validation accuracy of the completed run that comes nearest to a run's; a run
    that repeats its request is no rival.
    """
    listed = list(runs)
    own = next((run for run in listed if run.path == path), None)
    if own is None or not own.project_id or own.best_val_accuracy is None:
        return NO_RIVAL
    found = [
        (abs(run.best_val_accuracy - own.best_val_accuracy), run.label, run.best_val_accuracy)
        for run in listed
        if run.best_val_accuracy is not None
        and (run.project_id, run.dataset) == (own.project_id, own.dataset)
        and run.outcome == "completed"
        and run.request_key != own.request_key
    ]
    return min(found)[1:] if found else NO_RIVAL


# projects ------------------------------------------------------------------------------------

OTHER = "Other"
"""Words for a project that has none."""


@dataclass(frozen=True)
class OpenProject:
    """A project as its runs are found by.

    Attributes:
        id: Its identity.
        title: Words for people.
        path: Its file; "" where it has none.
        network_key, request_key: As of `RunSummary`.
    """

    id: str
    title: str = ""
    path: str = ""
    network_key: str = ""
    request_key: str = ""

    @classmethod
    def of(cls, project: Project, path: str = "", title: str = "") -> OpenProject:
        """What a project is found by; its own title where no other is given."""
        plain = msgspec.json.decode(msgspec.json.encode(project_to_plain(project)))
        keys = plain_key(plain, NETWORK), plain_key(plain, REQUESTED)
        return cls(project.id, title or project.title, path, *keys)

    def owns(self, run: RunSummary) -> bool:
        """Whether a run is of this project."""
        if run.project_id or run.project_path:
            return run.project_id == self.id if run.project_id else run.project_path == self.path
        return run.title == self.title and run.network_key == self.network_key


@dataclass(frozen=True)
class RunGroup:
    """The runs of one project.

    Attributes:
        key: Unique among the groups of a list.
        title: The project in words.
        runs: In the order of the list.
        is_open: It is the open project.
    """

    key: str
    title: str
    runs: tuple[RunSummary, ...]
    is_open: bool = False


def group_runs(runs: Iterable[RunSummary], project: OpenProject | None) -> list[RunGroup]:
    """Runs by project: the open one first, then as the newest of their runs come."""
    found: dict[str, list[RunSummary]] = {}
    for run in runs:
        is_own = project is not None and project.owns(run)
        found.setdefault("" if is_own else project_key(run), []).append(run)
    own = found.pop("", [])
    others = [RunGroup(key, project_title(some), tuple(some)) for key, some in found.items()]
    if project is None or not own:
        return others
    return [RunGroup("", project.title or project_title(own), tuple(own), is_open=True), *others]


def project_key(run: RunSummary) -> str:
    """A text that is equal for runs of one project."""
    return run.project_id or run.project_path or f"{run.project}/{run.network_key}"


def project_title(runs: Iterable[RunSummary]) -> str:
    """The project of some runs, newest first, in words."""
    return next((run.project for run in runs if run.project), OTHER)


def full_name(run: RunSummary) -> str:
    """A run's name with its project, for where runs of several are mixed."""
    is_in = run.project.casefold() in run.label.casefold()
    return run.label if is_in or not run.project else f"{run.project}: {run.label}"


# the model of a project -------------------------------------------------------------------

_FINISHED = ("completed", "stopped")


def default_models(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Runs, in their order, that may classify unless another one is chosen: with weights, ended as
    planned or by a person, no fold of a cross-validation, and of a sweep that is over the best
    alone.
    """
    best: dict[str, RunSummary | None] = {}
    for run in runs:
        if run.series and run.is_of_sweep and run.series not in best:
            of_it = (each for each in runs if each.series == run.series)
            best[run.series] = _best(of_it)
    return [
        run
        for run in runs
        if run.has_model
        and run.outcome in _FINISHED
        and (not run.series or (run.is_of_sweep and best[run.series] is run))
    ]


def _best(sweep: Iterable[RunSummary]) -> RunSummary | None:
    """The run of the highest validation accuracy, then of the lowest loss; None while one of them
    trains or waits, or where none was measured.
    """
    members = list(sweep)
    if any(not run.is_over for run in members):
        return None
    measured = [run for run in members if run.has_model and run.val_accuracy is not None]
    return max(measured, key=_rank, default=None)


def _rank(run: RunSummary) -> tuple[float, float]:
    loss = run.best_loss if run.best_loss is not None else float("inf")
    return run.val_accuracy or 0.0, -loss
