"""`workbench cross-validate`: trains a project on folds or with several seeds; mean and spread."""

from __future__ import annotations

import argparse
from typing import Any

from workbench.cli import train
from workbench.cli._confusion import confusion_lines
from workbench.cli._follow import begin, run_words, spread_as_json, train_series
from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_line, print_text
from workbench.core.evaluation.confusion import Confusion
from workbench.core.format import plural
from workbench.core.training.fields.basics import MAX_FOLDS
from workbench.errors import UsageError
from workbench.runs.library.series import (
    MAX_RUNS,
    FoldPlan,
    FoldResult,
    series_result,
    spread_words,
)

NAME = "cross-validate"
HELP = "train a project on k folds or with several seeds; mean and spread"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds arguments for what to train, on how many folds, with how many seeds."""
    train.add_project_arguments(parser, has_folder=False)
    parser.add_argument(
        "--folds",
        type=int,
        default=0,
        metavar="K",
        help="folds: each is held out for validation once; without it, the split stays",
    )
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="seeds of weights and order for each fold"
    )
    parser.add_argument(
        "--again", action="store_true", help="begin again, also where such a series is unfinished"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Trains the runs one after the other through the queue, and prints the result; 4 when a run
    fails. After Ctrl+C the same command goes on where it stopped.
    """
    project = train.project_for(arguments)
    plan = FoldPlan(project, _folds(arguments), _seeds(arguments))
    series = begin(plan, arguments)
    train_series(series, is_quiet=arguments.json)
    result = series_result(series)
    if arguments.json:
        print_json(_as_json(series, plan, result))
    else:
        _print(result)
    return 0 if all(each.is_done for each in result.runs) else 4


def _folds(arguments: argparse.Namespace) -> int:
    folds = int(arguments.folds)
    if folds and not 2 <= folds <= MAX_FOLDS:
        raise UsageError(
            "Invalid number of folds.", received=str(folds), expected=f"2 to {MAX_FOLDS}"
        )
    return folds


def _seeds(arguments: argparse.Namespace) -> int:
    seeds, folds = int(arguments.seeds), int(arguments.folds)
    if seeds < 1 or (seeds == 1 and not folds) or seeds * max(1, folds) > MAX_RUNS:
        raise UsageError(
            "Invalid number of runs.",
            received=f"{folds} folds, {seeds} seeds",
            expected=f"--folds 2 or more, or --seeds 2 or more; at most {MAX_RUNS} runs",
        )
    return seeds


def _print(result: FoldResult) -> None:
    for each in result.runs:
        print_text(run_words(each))
    for name, spread in (("validation", result.val_accuracy), ("test", result.test_accuracy)):
        if spread is not None:
            runs = plural(spread.count, "run")
            print_text(
                f"{name} accuracy {spread_words(spread)} (mean ± standard deviation of {runs})"
            )
    for note in result.notes():
        print_line(note)
    confusion = result.confusion
    if confusion is not None:
        for line in confusion_lines(result.classes, Confusion.of_dense(confusion)):
            print_text(line)


def _as_json(series: str, plan: FoldPlan, result: FoldResult) -> dict[str, Any]:
    confusion = result.confusion
    return {
        "ok": all(each.is_done for each in result.runs),
        "series": series,
        "folds": plan.folds,
        "seeds": plan.seeds,
        "runs": [
            {
                "run": str(each.run.path),
                "label": each.label,
                "fold": each.fold or None,
                "seed": each.seed,
                "outcome": each.outcome,
                "val_accuracy": each.val_accuracy,
                "test_accuracy": each.test_accuracy,
                "validation_images": each.num_validation,
            }
            for each in result.runs
        ],
        "val_accuracy": spread_as_json(result.val_accuracy),
        "test_accuracy": spread_as_json(result.test_accuracy),
        "per_fold": {str(fold): spread_as_json(each) for fold, each in result.of_folds().items()},
        "classes": list(result.classes),
        "confusion": None if confusion is None else confusion.tolist(),
        "notes": result.notes(),
    }
