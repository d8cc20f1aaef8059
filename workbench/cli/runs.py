"""`workbench runs`: the runs on this computer."""

from __future__ import annotations

import argparse

import msgspec

from workbench.cli._output import add_json_option, print_json, printable, tell
from workbench.runs.home import runs_home
from workbench.runs.index import list_runs

NAME = "runs"
HELP = "list the runs on this computer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments but --json."""
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints one line a run, newest first."""
    runs = list_runs()
    for summary in runs:
        if arguments.json:
            print_json(msgspec.to_builtins(summary, enc_hook=str))
            continue
        accuracy = summary.test_accuracy
        words = "" if accuracy is None else f"test {100 * accuracy:.1f} %"
        print(
            printable(
                f"{summary.name:32} {summary.outcome:10} "
                f"epoch {summary.epochs_done} of {summary.epochs}  {words}"
            )
        )
    if not runs and not arguments.json:
        tell(f"No runs yet. They will be kept in {runs_home()}.")
    return 0
