"""`workbench sweep`: trains a project with several values of its settings, and compares them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.checkup.analysed import CheckedSweep, check_sweep
from workbench.cli import train
from workbench.cli._follow import begin, spread_as_json, train_series
from workbench.cli._options import add_json_option
from workbench.cli._output import aligned, print_json, print_line, print_text
from workbench.cli._project import add_connect_option, list_keys_in_help, typed_target
from workbench.core.projects.project_file import read_project
from workbench.core.storage.save import save_bytes
from workbench.errors import UsageError
from workbench.runs.library.series import newest_series, spread_words
from workbench.runs.library.sweep import Axis, SweepPlan
from workbench.runs.library.sweep_result import (
    CombinationResult,
    SweepResult,
    SweepRun,
    combination_words,
    outcome_key,
    sweep_result,
)
from workbench.runs.state import queue

NAME = "sweep"
HELP = "train a project over values of its settings, with several seeds; which are best"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds arguments for what differs, how often each combination is trained, and where."""
    add_connect_option(parser)
    train.add_data_and_recipe_arguments(parser)
    _add_axes(parser)
    parser.add_argument(
        "--target",
        action="append",
        default=[],
        dest="targets",
        metavar="TARGET",
        help="where to train, see `workbench targets`; several: the runs in turns on each",
    )
    parser.add_argument(
        "--no-stopping",
        action="store_true",
        help="train all runs to their end, also those below the median of the others",
    )
    parser.add_argument(
        "--warm-up",
        type=int,
        default=0,
        metavar="N",
        help="epochs before a run may be stopped; a quarter of them without it",
    )
    parser.add_argument(
        "--skip-invalid", action="store_true", help="leave out combinations that cannot be trained"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a line a run as CSV")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--dry-run", action="store_true", help="check and list the runs only")
    what.add_argument("--queue", action="store_true", help="queue the runs and return")
    what.add_argument("--result", action="store_true", help="print the newest sweep's result only")
    what.add_argument(
        "--again", action="store_true", help="begin again, also where this sweep is unfinished"
    )
    add_json_option(parser)
    parser.set_defaults(target=None, values=[])
    list_keys_in_help(parser)


def _add_axes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="axes",
        metavar="KEY=V1,V2...",
        help="values of a setting or layer, e.g. conv2d.filters=16,32 or 16..64/4, steps of a "
        "range (/4log: even in the logarithm), or, with --random, learning_rate=1e-4..1e-1; one "
        "value changes it for all runs; repeat for more",
    )
    parser.add_argument(
        "--random",
        type=int,
        default=0,
        metavar="N",
        help="draw N combinations instead of training all",
    )
    parser.add_argument(
        "--random-seed", type=int, default=0, metavar="S", help="seed of the draw; 0 without it"
    )
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="seeds of weights and order, for each"
    )


def run(arguments: argparse.Namespace) -> int:
    """Trains the runs through the queue and prints the result; 4 when a run fails. After Ctrl+C
    the same command goes on where it stopped.
    """
    if arguments.result:
        return _finish(sweep_result(_newest(arguments.project)), arguments)
    checked = _checked(arguments)
    if arguments.dry_run:
        _print_plan(checked, as_json=arguments.json)
        return 0
    plan = checked.possible
    series = begin(plan, arguments, *plan.targets)
    if not arguments.json:
        print_line(f"{checked.words()}.")
    if arguments.queue:
        queue.start_next()
        return _finish(sweep_result(series), arguments, is_begun=True)
    train_series(series, is_quiet=arguments.json)
    return _finish(sweep_result(series), arguments)


def _newest(path: Path) -> str:
    series = newest_series(read_project(path).id, is_sweep=True)
    if not series:
        raise UsageError(
            "This project has no sweep.", where=str(path), fix="Begin one: workbench sweep --help."
        )
    return series


def _checked(arguments: argparse.Namespace) -> CheckedSweep:
    """The plan that the command line describes, checked; raises UsageError where a combination
    cannot be trained and is not to be skipped.
    """
    axes = [Axis.parse(text) for text in arguments.axes]
    fixed = [axis.text() for axis in axes if axis.is_fixed]
    own = argparse.Namespace(**{**vars(arguments), "values": fixed})
    targets = [typed_target(text) for text in arguments.targets]
    plan = SweepPlan(
        train.project_for(own),
        tuple(axis for axis in axes if not axis.is_fixed),
        num_random=arguments.random,
        draw_seed=arguments.random_seed,
        seeds=arguments.seeds,
        targets=tuple(targets),
        is_stopping=not arguments.no_stopping,
        warm_up=arguments.warm_up,
    )
    checked = check_sweep(plan)
    if checked.impossible and not (arguments.skip_invalid and checked.has_runs):
        fix = "Change the values, or leave these combinations out with --skip-invalid."
        raise UsageError(checked.impossible_words(), fix=fix if checked.has_runs else "")
    return checked


def _print_plan(checked: CheckedSweep, *, as_json: bool) -> None:
    runs = checked.possible.runs()
    if as_json:
        skipped = [
            {"values": each.combination.values, "reason": each.reason}
            for each in checked.impossible
        ]
        listed = [
            {"label": each.label, "values": each.point.values, "seed": each.project.recipe.seed}
            for each in runs
            if each.point is not None
        ]
        print_json({"runs": listed, "skipped": skipped, "seconds": checked.seconds})
        return
    for each in runs:
        print_text(each.label)
    if checked.impossible:
        print_line(checked.impossible_words())
    print_line(f"{checked.words()}.")


def _finish(result: SweepResult, arguments: argparse.Namespace, *, is_begun: bool = False) -> int:
    """Prints the result and writes it; 4 where a run failed, unless they have only begun."""
    if arguments.csv is not None:
        save_bytes(arguments.csv, result.csv_text().encode())
    if arguments.json:
        print_json(_as_json(result))
    elif not is_begun:
        _print(result)
    is_whole = result.num_settled == len(result.runs)
    return 0 if is_whole or is_begun or arguments.result else 4


def _print(result: SweepResult) -> None:
    if not result.combinations:
        return
    rows = [(*result.keys, "validation", "test", "")]
    rows += [_row(result, each) for each in result.combinations]
    for line in aligned(rows):
        print_text(line)
    for note in result.notes():
        print_line(note)


def _row(result: SweepResult, each: CombinationResult) -> tuple[str, ...]:
    figures = (each.val_accuracy, each.test_accuracy)
    words = combination_words(result, each)
    return (*each.values.values(), *map(spread_words, figures), words)


def _as_json(result: SweepResult) -> dict[str, Any]:
    best = result.best
    return {
        "ok": result.num_settled == len(result.runs),
        "series": result.series,
        "keys": result.keys,
        "runs": [_run_as_json(each) for each in result.runs],
        "combinations": [
            {
                "values": each.values,
                "val_accuracy": spread_as_json(each.val_accuracy),
                "test_accuracy": spread_as_json(each.test_accuracy),
                "stopped_early": each.num_hopeless,
                "within_noise": result.is_within_noise(each),
            }
            for each in result.combinations
        ],
        "best": best.values if best is not None else None,
        "noise": result.noise,
        "notes": result.notes(),
    }


def _run_as_json(each: SweepRun) -> dict[str, Any]:
    own = each.trained
    return {
        "run": str(own.run.path),
        "label": own.label,
        "values": each.values,
        "seed": own.seed,
        "outcome": outcome_key(each),
        "epochs": each.epochs,
        "val_accuracy": own.val_accuracy,
        "test_accuracy": own.test_accuracy,
        "target": each.target,
    }
