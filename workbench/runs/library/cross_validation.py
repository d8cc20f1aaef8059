"""Cross-validation and repeated seeds: the runs of a series, and their mean and spread.

A series is some runs of one project that differ in the fold that validates, or in the seed of
weights and order. The split stays: all runs have its seed, and the same test images. The runs are
ordinary ones that wait in the queue; which series they are of is in their requests, so a series
goes on with or without a window, and is begun again where runs are missing.
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
from typing import Any

import msgspec
import numpy as np

from workbench.core.format import share
from workbench.core.projects.project import Project, View
from workbench.core.projects.project_file import project_to_plain
from workbench.core.split_marks import SplitMarks
from workbench.core.storage.json_file import DAMAGED
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.home import runs_home
from workbench.runs.library.summary import summary_history
from workbench.runs.log.confusion_history import read_confusion
from workbench.runs.state import queue
from workbench.runs.state.outcome import outcome_of
from workbench.runs.state.split_memory import with_remembered_split

MAX_RUNS = 200
"""Runs of one series: more are a mistake in the numbers."""

_REQUEST = "request.json"
_LEFT_ALONE = ("completed", "running", "silent", "waiting", "away")
_KEY_DIGITS = 12

Confusion = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class SeriesPlan:
    """What a series is made of.

    Attributes:
        project: What is trained; its validation becomes a held-out fold.
        folds: How many folds; 0 to keep the project's split.
        seeds: With how many seeds each fold is trained.
    """

    project: Project
    folds: int = 0
    seeds: int = 1

    def runs(self) -> list[tuple[str, Project]]:
        """The runs in their order: what distinguishes them, and what they train."""
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
                found.append((", ".join(words), own))
        return found

    def key(self) -> str:
        """The same for the same series: of what is trained, without what differs between runs."""
        edits = replace(self.project.edits, split=SplitMarks())
        own = replace(self.project, edits=edits, view=View(), title="", summary="")
        plain = project_to_plain(own)
        text = json.dumps([plain, self.folds, self.seeds], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:_KEY_DIGITS]


@dataclass(frozen=True)
class Trained:
    """A run of a series.

    Attributes:
        run: Its folder.
        label: What distinguishes it, as "fold 2 of 5".
        fold: Which fold validates, from 1; 0 without folds.
        seed: Of weights and order.
        outcome: As `RunOutcome.kind`.
        val_accuracy, test_accuracy: Of the weights it has saved, 0..1; None where not measured.
        num_validation: Images in its validation part.
        confusion: Of its validation images, rows the true classes; None where not counted.
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
class Spread:
    """Mean and standard deviation (of a sample, n - 1; 0 for one value) of some figures."""

    mean: float
    deviation: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread | None:
        """Of those that are known; None for none."""
        known = [value for value in values if value is not None]
        if not known:
            return None
        return cls(fmean(known), stdev(known) if len(known) > 1 else 0.0, len(known))


def spread_words(spread: Spread | None) -> str:
    """As "88.1% ± 0.9%"; the mean alone of one value, "" for None."""
    if spread is None:
        return ""
    return share(spread.mean) + (f" ± {share(spread.deviation)}" if spread.count > 1 else "")


@dataclass(frozen=True)
class SeriesResult:
    """What the runs of a series have given so far: the one place of mean and spread."""

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
        return notes


# the runs of a series ----------------------------------------------------------------------


class _ProjectMark(msgspec.Struct, frozen=True):
    id: str = ""


class _Mark(msgspec.Struct, frozen=True):
    """The part of a request that names the series and the project."""

    project: _ProjectMark
    series: str = ""
    created: float = 0.0


_decoder = msgspec.json.Decoder(_Mark)


def begin_series(
    plan: SeriesPlan,
    *,
    title: str = "",
    project_path: str = "",
    home: Path | None = None,
    is_new: bool = False,
) -> str:
    """Puts the missing runs of a series into the queue; nothing is started.

    A series of the same plan that has runs to be done goes on, otherwise a new one begins: always
    where `is_new`. Runs that were stopped are resumed, those that failed are trained again.

    Returns:
        The series, see `series_runs`.

    Raises:
        RunError, SaveError: a run cannot be made or queued.
    """
    home = home or runs_home()
    series = "" if is_new else _unfinished(plan, home)
    series = series or f"{plan.key()}-{secrets.token_hex(4)}"
    known = {_label_of(run): run for run in series_runs(series, home)}
    for label, project in plan.runs():
        if label in known and _goes_on(known[label]):
            continue
        remembered = with_remembered_split(project, home)
        make = partial(create_run, remembered, title=title, project_path=project_path)
        queue.enqueue(make(label=label, series=series, home=home))
    return series


def _goes_on(run: RunFolder) -> bool:
    """Whether a run is done, under way, or in the queue now, where it could be resumed."""
    outcome = outcome_of(run)
    if outcome.can_resume:
        queue.enqueue(run, resume=True)
    return outcome.can_resume or outcome.kind in _LEFT_ALONE


def _unfinished(plan: SeriesPlan, home: Path) -> str:
    """The newest series of a plan, where runs of it are still to be done; "" without one."""
    marks = [mark for _, mark in _marks(home) if mark.series.startswith(f"{plan.key()}-")]
    series = max(marks, key=lambda mark: mark.created).series if marks else ""
    result = series_result(series, home) if series else None
    done = {each.label for each in result.runs if each.is_done} if result is not None else set()
    return series if {label for label, _ in plan.runs()} - done else ""


def newest_series(project_id: str, home: Path | None = None) -> str:
    """The series of a project that was begun last; "" where there is none."""
    marks = [mark for _, mark in _marks(home or runs_home()) if mark.project.id == project_id]
    return max(marks, key=lambda mark: mark.created).series if marks and project_id else ""


def series_runs(series: str, home: Path | None = None) -> list[RunFolder]:
    """The runs of a series in their order; of several for one fold and seed the newest."""
    found: dict[str, RunFolder] = {}
    own = [(path, mark) for path, mark in _marks(home or runs_home()) if mark.series == series]
    for path, _ in sorted(own, key=lambda each: each[1].created):
        run = RunFolder(path)
        found[_label_of(run)] = run
    return sorted(found.values(), key=_place)


def series_result(series: str, home: Path | None = None) -> SeriesResult:
    """What the runs of a series have given so far."""
    return SeriesResult(tuple(map(_trained, series_runs(series, home))))


def _marks(home: Path) -> list[tuple[Path, _Mark]]:
    found = []
    for request in home.glob(f"*/{_REQUEST}"):
        try:
            mark = _decoder.decode(request.read_bytes())
        except (OSError, *DAMAGED):
            continue
        if mark.series:
            found.append((request.parent, mark))
    return found


def _label_of(run: RunFolder) -> str:
    return run.request().label


def _place(run: RunFolder) -> tuple[int, int]:
    seed, fold = _seed_and_fold(run)
    return seed, fold


def _seed_and_fold(run: RunFolder) -> tuple[int, int]:
    recipe = run.request().to_project().recipe
    return recipe.seed, recipe.fold if recipe.folds else 0


def _trained(run: RunFolder) -> Trained:
    seed, fold = _seed_and_fold(run)
    history, outcome = summary_history(run.events_path), outcome_of(run).kind
    own = Trained(run, _label_of(run), fold, seed, outcome)
    finished = history.finished
    if finished is None or not own.is_done:
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
        classes=tuple(run.model_card().class_names),
        is_best=kept is not None and kept.kind == "best",
    )
