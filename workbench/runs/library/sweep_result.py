"""What a sweep has given: its combinations with mean and spread over seeds, and which of them can
be distinguished.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workbench.core.evaluation.significance import share_error
from workbench.core.format import path_text, share
from workbench.core.outside_text import csv_cells
from workbench.runs.folder import RunFolder
from workbench.runs.library.series import Spread, Trained, is_settled, series_runs, trained_run
from workbench.runs.state.outcome import finished_of

_COLUMNS = ("seed", "outcome", "epochs", "val_accuracy", "test_accuracy", "target", "run")


@dataclass(frozen=True)
class SweepRun:
    """A run of a sweep.

    Attributes:
        trained: Its figures: of the weights it has saved, also where it was stopped.
        combination: The number of its combination.
        values: By key, as typed.
        is_settled: Nothing more will come: it is completed, or was stopped as hopeless.
        epochs: How many it has trained.
        target: The key of the target it was planned for.
    """

    trained: Trained
    combination: int
    values: dict[str, str]
    is_settled: bool
    epochs: int
    target: str

    @property
    def is_hopeless(self) -> bool:
        """Whether it was stopped by the median of the others."""
        return self.is_settled and not self.trained.is_done


@dataclass(frozen=True)
class CombinationResult:
    """What the runs of one combination have given.

    Attributes:
        number: Number of the combination, from 1.
        values: By key, as typed.
        runs: One a seed.
        val_accuracy, test_accuracy: Over its completed runs; None before the first.
    """

    number: int
    values: dict[str, str]
    runs: tuple[SweepRun, ...]
    val_accuracy: Spread | None
    test_accuracy: Spread | None

    @classmethod
    def of(cls, runs: Sequence[SweepRun]) -> CombinationResult:
        """Mean and deviation over the seeds of one combination: `runs` have the same values."""
        done = [each.trained for each in runs if each.trained.is_done]
        return cls(
            runs[0].combination,
            runs[0].values,
            tuple(runs),
            Spread.of([each.val_accuracy for each in done]),
            Spread.of([each.test_accuracy for each in done]),
        )

    @property
    def num_hopeless(self) -> int:
        """How many of its runs were stopped by the median of the others."""
        return sum(each.is_hopeless for each in self.runs)

    @property
    def is_settled(self) -> bool:
        """Whether all of its runs are."""
        return all(each.is_settled for each in self.runs)


@dataclass(frozen=True)
class SweepResult:
    """What a sweep has given so far.

    Attributes:
        series: The sweep; "" for none.
        runs: In their order.
    """

    series: str = ""
    runs: tuple[SweepRun, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The settings that differ."""
        return tuple(self.runs[0].values) if self.runs else ()

    @property
    def num_settled(self) -> int:
        """Runs of which nothing more will come."""
        return sum(each.is_settled for each in self.runs)

    @cached_property
    def combinations(self) -> tuple[CombinationResult, ...]:
        """The best one first, by the mean validation accuracy. One with a run that was stopped is
        behind those without: its mean would be of its lucky seeds.
        """
        groups: dict[int, list[SweepRun]] = {}
        for run in self.runs:
            groups.setdefault(run.combination, []).append(run)
        return tuple(sorted(map(CombinationResult.of, groups.values()), key=_rank))

    @property
    def best(self) -> CombinationResult | None:
        """The one of the highest mean validation accuracy; None before the first."""
        first = self.combinations[0] if self.combinations else None
        return first if first is not None and first.val_accuracy is not None else None

    @cached_property
    def noise(self) -> float | None:
        """By how much accuracies differ without a cause; None while that is not known.

        The standard deviation over seeds, pooled over all combinations. With one seed the standard
        error of an accuracy that was measured on so many images, which is not 0 where all are right
        (`share_error`): it is as if other images had been drawn. At least the share of one image.
        """
        known = [each.val_accuracy for each in self.combinations if each.val_accuracy is not None]
        pooled = Spread.pooled(known)
        best = [each.trained for each in (self.best.runs if self.best is not None else ())]
        counted = [each for each in best if each.num_validation]
        errors = [1.0 / each.num_validation for each in counted]
        errors += map(_sampling_error, counted) if pooled is None else [pooled]
        return max(errors, default=None)

    def is_within_noise(self, each: CombinationResult) -> bool:
        """Whether a combination cannot be distinguished from the best one."""
        best, noise = self.best, self.noise
        if best is None or best.val_accuracy is None or each.val_accuracy is None or noise is None:
            return False
        return each is not best and best.val_accuracy.mean - each.val_accuracy.mean <= noise

    def notes(self) -> list[str]:
        """What qualifies the figures, in sentences."""
        found = []
        equals = [each for each in self.combinations if self.is_within_noise(each)]
        is_seeded = any(len(each.runs) > 1 for each in self.combinations)
        source = "the spread over seeds" if is_seeded else "the error of so few validation images"
        if self.noise is not None:
            found.append(
                f"Differences up to {share(self.noise)} are within noise ({source})"
                + (": the best is one of several that cannot be distinguished." if equals else ".")
            )
        if self.best is not None:
            found.append(
                "The best was chosen on the validation images: its accuracy on new images may be "
                "lower, nearer to its test accuracy."
            )
        if num := sum(each.is_hopeless for each in self.runs):
            was = "run was" if num == 1 else "runs were"
            found.append(f"{num} {was} stopped early, below the median of the others.")
        return found

    def csv_text(self) -> str:
        """A line a run, as a table for spreadsheets."""
        lines = [csv_cells([*self.keys, *_COLUMNS])]
        for each in self.runs:
            own = each.trained
            figures = (own.val_accuracy, own.test_accuracy)
            cells = [
                *each.values.values(),
                own.seed,
                outcome_key(each),
                each.epochs,
                *("" if value is None else f"{value:.6f}" for value in figures),
                each.target,
                path_text(str(own.run.path)),
            ]
            lines.append(csv_cells(cells))
        return "".join(f"{line}\n" for line in lines)


def outcome_key(run: SweepRun) -> str:
    """The outcome of a run for programs: as everywhere, and "stopped_early"."""
    return "stopped_early" if run.is_hopeless else run.trained.outcome


def combination_words(result: SweepResult, each: CombinationResult) -> str:
    """What there is to say of a combination beside its figures: "best", "within noise"."""
    if each is result.best:
        return "best"
    if each.num_hopeless:
        return f"{each.num_hopeless} of {len(each.runs)} stopped early"
    if result.is_within_noise(each):
        return "within noise of the best"
    failed = [e for e in each.runs if e.trained.outcome in ("failed", "died")]
    if failed:
        return f"{len(failed)} of {len(each.runs)} failed"
    return "" if each.is_settled else "not finished"


def sweep_result(series: str, home: Path | None = None) -> SweepResult:
    """What a sweep has given so far."""
    found = (_sweep_run(run) for run in series_runs(series, home))
    return SweepResult(series, tuple(each for each in found if each is not None))


def _sweep_run(run: RunFolder) -> SweepRun | None:
    request = run.request()
    point, finished = request.point, finished_of(run)
    if point is None:
        return None
    return SweepRun(
        trained_run(run),
        point.combination,
        point.values,
        is_settled(run),
        finished.epochs_done if finished is not None else 0,
        str(request.project.get("target", {}).get("key", "")),
    )


def _rank(each: CombinationResult) -> tuple[bool, bool, float, int]:
    mean = each.val_accuracy.mean if each.val_accuracy is not None else -math.inf
    return each.val_accuracy is None, bool(each.num_hopeless), -mean, each.number


def _sampling_error(run: Trained) -> float:
    accuracy = run.val_accuracy or 0.0
    return share_error(accuracy, run.num_validation)
