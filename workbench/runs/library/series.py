"""Series of runs: some runs of one project by a plan, trained and compared together.

A plan lists its runs: what distinguishes each, and what it trains. They are ordinary runs that wait
in the queue; which series they are of is in their requests, so a series goes on with or without a
window, and is begun again where runs are missing. The folds of a cross-validation and the points of
a sweep are both such plans.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Protocol

import msgspec

from workbench.core.format import share
from workbench.core.projects.project import Project, View
from workbench.core.projects.project_file import project_to_plain
from workbench.core.split_marks import SplitMarks
from workbench.core.storage.foreign_file import REQUEST_BYTES, read_foreign
from workbench.core.storage.json_file import DAMAGED
from workbench.errors import RunFolderError
from workbench.runs.control import request_stop
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.home import runs_home
from workbench.runs.request import SweepPoint
from workbench.runs.state import queue
from workbench.runs.state.home_lock import SERIES_LOCK, home_lock
from workbench.runs.state.outcome import finished_of, outcome_of
from workbench.runs.state.split_memory import with_remembered_split

MAX_RUNS = 200
"""Runs of one series: more are a mistake in the numbers."""

_REQUEST = "request.json"
_LEFT_ALONE = ("completed", "running", "silent", "waiting", "away")
_KEY_DIGITS = 12
_LOCK_WAIT_S = 120.0
"""Long: with large data sets, making the runs of a series takes its time."""


@dataclass(frozen=True)
class PlannedRun:
    """A run of a series, before it is made.

    Attributes:
        label: What distinguishes it from the others: each of a series has its own.
        project: What it trains.
        point: Its place in a sweep; None in other series.
    """

    label: str
    project: Project
    point: SweepPoint | None = None


class Plan(Protocol):
    """What a series is made of."""

    @property
    def project(self) -> Project:
        """What is trained, before the runs differ."""
        ...

    def runs(self) -> list[PlannedRun]:
        """Its runs in their order."""
        ...

    def key(self) -> str:
        """The same for the same series, see `plan_key`."""
        ...


def plan_key(project: Project, *rest: object) -> str:
    """Identifies a series by what is trained, without what differs between its runs, and by the
    `rest` of its plan, which JSON can hold.
    """
    edits = replace(project.edits, split=SplitMarks())
    own = replace(project, edits=edits, view=View(), title="", summary="")
    text = json.dumps([project_to_plain(own), *rest], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_DIGITS]


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (of a sample, n - 1; 0 for one value) of some figures."""

    mean: float
    deviation: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread | None:
        """Mean and deviation of the values that are not None; None where there are none."""
        known = [value for value in values if value is not None]
        if not known:
            return None
        return cls(fmean(known), stdev(known) if len(known) > 1 else 0.0, len(known))

    @staticmethod
    def pooled(spreads: Sequence[Spread]) -> float | None:
        """One standard deviation of several groups, each around its own mean: the root of their
        variances' mean, weighted by the degrees of freedom. None where no group has two values.
        """
        freedom = sum(each.count - 1 for each in spreads)
        squares = sum(each.deviation**2 * (each.count - 1) for each in spreads)
        return float((squares / freedom) ** 0.5) if freedom else None


def spread_words(spread: Spread | None) -> str:
    """Mean and deviation in words: "88.1% ± 0.9%"; the mean alone of one value, "" for None."""
    if spread is None:
        return ""
    return share(spread.mean) + (f" ± {share(spread.deviation)}" if spread.count > 1 else "")


class _ProjectMark(msgspec.Struct, frozen=True):
    id: str = ""


class _Mark(msgspec.Struct, frozen=True):
    """The part of a request that names the series and the project."""

    project: _ProjectMark
    series: str = ""
    created: float = 0.0
    label: str = ""
    point: SweepPoint | None = None


_decoder = msgspec.json.Decoder(_Mark)


def begin_series(
    plan: Plan,
    *,
    title: str = "",
    project_path: str = "",
    home: Path | None = None,
    is_new: bool = False,
) -> str:
    """Puts the missing runs of a series into the queue; nothing is started.

    A series of the same plan that has runs to be done goes on, otherwise a new one begins: always
    where `is_new`. Runs that were stopped are resumed, those that failed are trained again.
    Two that begin the same series at the same time queue its runs once.

    Returns:
        The series, see `series_runs`.

    Raises:
        RunError, SaveError: a run cannot be made or queued.
    """
    home = home or runs_home()
    planned = plan.runs()
    make = partial(create_run, title=title, project_path=project_path, home=home)
    with home_lock(home, SERIES_LOCK, "list of series", _LOCK_WAIT_S):
        series = "" if is_new else _unfinished(plan.key(), planned, home)
        series = series or f"{plan.key()}-{secrets.token_hex(4)}"
        known = runs_by_label(series, home)
        for each in planned:
            if each.label in known and _goes_on(known[each.label]):
                continue
            remembered = with_remembered_split(each.project, home)
            queue.enqueue(make(remembered, label=each.label, series=series, point=each.point))
    return series


def _goes_on(run: RunFolder) -> bool:
    """Whether a run is done, under way, or in the queue now, where it could be resumed."""
    if is_settled(run):
        return True
    outcome = outcome_of(run)
    if outcome.can_resume:
        queue.enqueue(run, resume=True)
    return outcome.can_resume or outcome.kind in _LEFT_ALONE


def is_settled(run: RunFolder) -> bool:
    """Whether a series is done with a run: trained to its end, or stopped as hopeless."""
    outcome = outcome_of(run)
    if outcome.kind == "stopped":
        finished = finished_of(run)
        return finished is not None and bool(finished.reason)
    return outcome.kind == "completed"


def _unfinished(key: str, planned: Sequence[PlannedRun], home: Path) -> str:
    """The newest series of a plan, where runs of it are still to be done; "" without one."""
    marks = [mark for _, mark in _marks(home) if mark.series.startswith(f"{key}-")]
    series = max(marks, key=lambda mark: mark.created).series if marks else ""
    runs = runs_by_label(series, home) if series else {}
    done = {label for label, run in runs.items() if is_settled(run)}
    return series if {each.label for each in planned} - done else ""


def newest_series(project_id: str, home: Path | None = None, *, is_sweep: bool = False) -> str:
    """The series of a project that was begun last, of the sweeps or of the others; "" where there
    is none.
    """
    marks = [
        mark
        for _, mark in _marks(home or runs_home())
        if mark.project.id == project_id and (mark.point is not None) == is_sweep
    ]
    return max(marks, key=lambda mark: mark.created).series if marks and project_id else ""


def series_runs(series: str, home: Path | None = None) -> list[RunFolder]:
    """The runs of a series in their order; of several with one label the newest."""
    return sorted(runs_by_label(series, home or runs_home()).values(), key=_place)


def runs_by_label(series: str, home: Path) -> dict[str, RunFolder]:
    """The runs of a series by what distinguishes them; of several with one label the newest."""
    own = [(path, mark) for path, mark in _marks(home) if mark.series == series]
    own.sort(key=lambda each: each[1].created)
    return {mark.label: RunFolder(path) for path, mark in own}


def _marks(home: Path) -> list[tuple[Path, _Mark]]:
    found = []
    for request in home.glob(f"*/{_REQUEST}"):
        try:
            mark = _decoder.decode(read_foreign(request, REQUEST_BYTES))
        except (OSError, *DAMAGED):
            continue
        if mark.series:
            found.append((request.parent, mark))
    return found


def _place(run: RunFolder) -> tuple[int, ...]:
    point = run.request().point
    return (point.place,) if point is not None else seed_and_fold(run)


def seed_and_fold(run: RunFolder) -> tuple[int, int]:
    """The seed of a run, and the fold that validates, from 1; 0 without folds."""
    recipe: Any = run.request().to_project().recipe
    return recipe.seed, recipe.fold if recipe.folds else 0


def call_off(series: str, home: Path | None = None) -> list[RunFolder]:
    """Takes the waiting runs of a series from the queue and requests that those that train stop;
    the latter, which have a test and a checkpoint to write. Nothing is lost: the same plan goes on.

    Raises:
        RunError: a stop cannot be requested.
    """
    stopping = []
    for run in series_runs(series, home):
        if queue.is_waiting(run):
            try:
                queue.cancel(run)
                continue
            except RunFolderError:  # another process has just started it
                pass
        elif not run.is_alive():
            continue
        request_stop(run)
        stopping.append(run)
    return stopping
