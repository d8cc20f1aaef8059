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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, Protocol

import msgspec
import numpy as np

from workbench.core.evaluation.significance import wilson_interval
from workbench.core.format import plural, share
from workbench.core.projects.project import Project, View
from workbench.core.projects.project_file import project_to_plain
from workbench.core.specs.dataset import SplitMarks
from workbench.core.storage.foreign_file import REQUEST_BYTES, read_foreign
from workbench.core.storage.json_file import DAMAGED
from workbench.core.training.progress_rules import epoch_score
from workbench.errors import RunFolderError
from workbench.protocol.events import EpochFinished, RunFinished
from workbench.runs.control import request_stop
from workbench.runs.folder import RunFolder, SweepPoint, create_run
from workbench.runs.home import runs_home
from workbench.runs.library.summary import summary_events, summary_history
from workbench.runs.log.confusion_history import read_confusion
from workbench.runs.state import queue
from workbench.runs.state.outcome import finished_of, outcome_of
from workbench.runs.state.preparing import with_remembered_split
from workbench.runs.state.queue import SERIES_LOCK, home_lock

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


# median stopping -----------------------------------------------------------------------------
# Median stopping: whether the other runs of its sweep leave a run behind.
#
# A run is hopeless when its best score so far is below the median of the running averages, up to
# the same epoch, of the runs that are completed: the rule of Golovin et al., "Google Vizier: A
# Service for Black-Box Optimization", KDD 2017, section 3.2.1. The score is the validation
# accuracy, for all runs, so that those of different losses can be compared; without validation the
# accuracy.
#
# The one who decides is who writes the log here, after each epoch: the trainer, or the run mirror
# of a run on another computer, where its siblings are not. So the rule needs no window and no
# command that stays. It only reads logs: the numbers of a training do not depend on it.

MIN_OTHERS = 3
"""Completed runs that a median needs: of fewer it is one run's luck."""

MEDIAN_WORDS = (
    "Median stopping: the best accuracy so far is below the median of the completed runs of the "
    "sweep."
)
"""What a trainer logs that has no siblings beside it: the run mirror has compared."""

MIN_WARM_UP = 2
_WARM_UP_SHARE = 0.25


def default_warm_up(epochs: int) -> int:
    """Epochs before a run may be stopped: a quarter of them, two at least."""
    return max(MIN_WARM_UP, round(epochs * _WARM_UP_SHARE))


class MedianRule:
    """The rule for one run.

    Args:
        run: Any run: one that is of no sweep always goes on. Raises RunFolderError where its
            request is damaged.
    """

    def __init__(self, run: RunFolder) -> None:
        request = run.request()
        self._run = run
        self._series = request.series
        self._warm_up = request.point.warm_up if request.point is not None else 0

    def stop_words(self) -> str:
        """Why the run is to end after the epochs that it has logged; "" where it may go on."""
        if not self._warm_up:
            return ""
        events = list(summary_events(self._run.events_path))
        if any(isinstance(event, RunFinished) and event.reason for event in events):
            return ""  # stopped once, and resumed by a person
        scores = _scores(event for event in events if isinstance(event, EpochFinished))
        epoch = max(scores, default=0)
        if epoch < self._warm_up:
            return ""
        bar = median_of_averages(self._others(), epoch)
        best = max(scores.values())
        return "" if bar is None or best >= bar else _words(epoch, best, bar)

    def _others(self) -> list[tuple[float, ...]]:
        """The scores of the completed other runs of the sweep."""
        found = []
        for other in runs_by_label(self._series, self._run.path.parent).values():
            finished = finished_of(other) if other.path != self._run.path else None
            if finished is not None and finished.outcome == "completed":
                found.append(_completed_scores(other.events_path, finished.seq))
        return found


def _words(epoch: int, best: float, bar: float) -> str:
    return (
        f"Median stopping after {plural(epoch, 'epoch')}: the best accuracy so far, {share(best)}, "
        f"is below {share(bar)}, the median of the completed runs of the sweep at this epoch."
    )


def median_of_averages(others: Sequence[Sequence[float]], epoch: int) -> float | None:
    """The median of the means of each run's scores up to an epoch; None for too few runs.

    Args:
        others: The scores of each completed run, epoch by epoch.
        epoch: Counted from 1.
    """
    averages = [fmean(scores[:epoch]) for scores in others if scores]
    return median(averages) if len(averages) >= MIN_OTHERS else None


@lru_cache(maxsize=512)
def _completed_scores(path: Path, _last: int) -> tuple[float, ...]:
    """The scores of a run that is over, read once for each end of its log."""
    events = (event for event in summary_events(path) if isinstance(event, EpochFinished))
    return tuple(_scores(events).values())


def _scores(events: Iterable[EpochFinished]) -> dict[int, float]:
    """The scores by epoch, in order: of one that was trained twice, after a crash, the last."""
    scores = {event.epoch: epoch_score(event, "val_accuracy")[0] for event in events}
    return dict(sorted(scores.items()))


# cross validation ----------------------------------------------------------------------------
# Cross-validation and repeated seeds: a series of runs that differ in the fold that validates, or
# in the seed of weights and order. The split stays: all have its seed, and the same test images.

Confusion = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class FoldPlan:
    """What a series is made of.

    Attributes:
        project: What is trained; its validation becomes a held-out fold.
        folds: How many folds; 0 to keep the project's split.
        seeds: With how many seeds each fold is trained.
    """

    project: Project
    folds: int = 0
    seeds: int = 1

    def runs(self) -> list[PlannedRun]:
        """The runs in their order."""
        recipe = self.project.recipe
        split_seed = recipe.seed if recipe.split_seed is None else recipe.split_seed
        found = []
        for number in range(self.seeds):
            seed = recipe.seed + number
            for fold in range(1, max(1, self.folds) + 1):
                values: dict[str, Any] = {"seed": seed, "split_seed": split_seed}
                if self.folds:
                    values |= {"validation": "split", "folds": self.folds, "fold": fold}
                words = [f"fold {fold} of {self.folds}"] if self.folds else []
                words += [f"seed {seed}"] if self.seeds > 1 or not self.folds else []
                own = replace(self.project, recipe=recipe.with_values(**values))
                found.append(PlannedRun(", ".join(words), own))
        return found

    def key(self) -> str:
        """Identifies the series: equal for the same folds and seeds of the same project."""
        return plan_key(self.project, self.folds, self.seeds)


@dataclass(frozen=True)
class Trained:
    """A run of a series.

    Attributes:
        run: Its folder.
        label: What distinguishes it, as "fold 2 of 5".
        fold: Which fold validates, from 1; 0 without folds.
        seed: Seed of its initial weights and of the order of the images.
        outcome: As `RunOutcome.kind`.
        val_accuracy, test_accuracy: Accuracies of the weights it has saved, 0..1; None where not
            measured.
        num_validation: Images in its validation part.
        confusion: Confusion matrix of its validation images, rows the true classes; None where
            not counted.
        classes: Names of the classes.
        is_best: Its weights are of the best epoch, chosen on the validation images.
    """

    run: RunFolder
    label: str
    fold: int
    seed: int
    outcome: str
    val_accuracy: float | None = None
    test_accuracy: float | None = None
    num_validation: int = 0
    confusion: Confusion | None = None
    classes: tuple[str, ...] = ()
    is_best: bool = False

    @property
    def is_done(self) -> bool:
        """Whether it is trained to its end."""
        return self.outcome == "completed"


@dataclass(frozen=True)
class FoldResult:
    """What the runs of a series have given so far: mean, spread and confusion."""

    runs: tuple[Trained, ...]

    @property
    def num_done(self) -> int:
        """Runs that are trained to their end."""
        return sum(each.is_done for each in self.runs)

    @property
    def val_accuracy(self) -> Spread | None:
        """Over the completed runs."""
        return Spread.of([each.val_accuracy for each in self.runs if each.is_done])

    @property
    def test_accuracy(self) -> Spread | None:
        """Over the completed runs: on the same test images."""
        return Spread.of([each.test_accuracy for each in self.runs if each.is_done])

    def of_folds(self) -> dict[int, Spread]:
        """The validation accuracy of each fold, over its seeds."""
        folds = sorted({each.fold for each in self.runs if each.is_done and each.fold})
        found = {
            fold: Spread.of([e.val_accuracy for e in self.runs if e.is_done and e.fold == fold])
            for fold in folds
        }
        return {fold: spread for fold, spread in found.items() if spread is not None}

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes; () while no run is done."""
        return next((each.classes for each in self.runs if each.is_done), ())

    @property
    def confusion(self) -> Confusion | None:
        """The matrices of the completed runs added up: with folds each image that is not for
        testing counts once for each seed. None where a run has none, or other classes.
        """
        done = [each for each in self.runs if each.is_done]
        matrices = [each.confusion for each in done if each.confusion is not None]
        if not matrices or len(matrices) < len(done) or len({each.classes for each in done}) > 1:
            return None
        return np.asarray(np.sum(matrices, axis=0, dtype=np.int64))

    def notes(self) -> list[str]:
        """What qualifies the figures, in sentences."""
        done = [each for each in self.runs if each.is_done]
        notes = []
        if any(each.is_best and each.val_accuracy is not None for each in done):
            notes.append(
                "Each run has saved its best epoch, chosen on the images that validate it: on new "
                "images the accuracy may be lower."
            )
        sizes = {each.fold: each.num_validation for each in done if each.fold}
        if sizes and max(sizes.values()) > 2 * min(sizes.values()):
            notes.append("The folds differ in size: groups or duplicates are not divided.")
        folds = [each.fold for each in done]
        # With several seeds each image is counted several times.
        is_once = bool(folds) and all(folds) and len(set(folds)) == len(folds)
        if is_once and self.confusion is not None and self.confusion.sum():
            right, images = int(self.confusion.trace()), int(self.confusion.sum())
            low, high = wilson_interval(right, images)
            notes.append(
                f"Of {plural(images, 'validation image')} of all folds {share(right / images)} are "
                f"right: 95% interval {share(low)} to {share(high)}."
            )
        return notes


def series_result(series: str, home: Path | None = None) -> FoldResult:
    """What the runs of a series have given so far."""
    return FoldResult(tuple(map(trained_run, series_runs(series, home))))


def trained_run(run: RunFolder) -> Trained:
    """What a run of a series has given so far."""
    seed, fold = seed_and_fold(run)
    history, outcome = summary_history(run.events_path), outcome_of(run).kind
    own = Trained(run, run.request().label, fold, seed, outcome)
    finished = history.finished
    if finished is None:
        return own
    kept = finished.kept
    accuracy = kept.val_accuracy if kept is not None else None
    matrix = read_confusion(run, kept.epoch) if kept is not None and not kept.is_partial else None
    return replace(
        own,
        val_accuracy=accuracy,
        test_accuracy=finished.test.accuracy if finished.test is not None else None,
        num_validation=int(matrix.sum()) if matrix is not None else 0,
        confusion=None if matrix is None else matrix.astype(np.int64),
        classes=tuple(run.model_card().class_names) if run.has_model() else (),
        is_best=kept is not None and kept.kind == "best",
    )
