"""`workbench coach`: the findings of the training coach on a run."""

from __future__ import annotations

import argparse

from workbench.cli._options import add_json_option, add_run
from workbench.cli._output import print_json, print_line, print_text
from workbench.runs.library.index import list_runs, open_run
from workbench.runs.library.projects import rival_of
from workbench.runs.log.coaching import (
    advice_lines,
    advice_on,
    advice_to_plain,
    log_damage,
    watched_words,
)

NAME = "coach"
HELP = "show the findings of the training coach on a run: overfitting, dead units, leaks and more"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN and --json."""
    add_run(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the findings, the gravest first."""
    run = open_run(arguments.run_name)
    found = advice_on(run, rival_of(run.path, list_runs()))
    if damage := log_damage(run):
        print_line(damage)
    if arguments.json:
        print_json({"findings": [advice_to_plain(advice) for advice in found]})
        return 0
    for advice in found:
        print_text(*advice_lines(advice))
    if not found:
        print_text(f"Nothing to report. {watched_words()}")
    return 0
