"""Cross-validation and repeated seeds: a series of runs that differ in the fold that validates, or
in the seed of weights and order. The split stays: all have its seed, and the same test images.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.evaluation.intervals import wilson_interval
from workbench.core.format import plural, share
from workbench.core.projects.project import Project
from workbench.runs.folder import RunFolder
from workbench.runs.library.series import (
    PlannedRun,
    Spread,
    plan_key,
    seed_and_fold,
    series_runs,
)
from workbench.runs.library.summary import summary_history
from workbench.runs.log.confusion_history import read_confusion
from workbench.runs.state.outcome import outcome_of

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
