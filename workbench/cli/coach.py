"""`workbench coach`: what the training coach sees in a run."""

from __future__ import annotations

import argparse

from workbench.cli._options import add_json_option, add_run
from workbench.cli._output import print_json, printable
from workbench.runs.library.find import open_run
from workbench.runs.log.coaching import advice_on, advice_text, advice_to_plain, watched_words

NAME = "coach"
HELP = "show what the training coach sees in a run: overfitting, dead units, leaks and more"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN and --json."""
    add_run(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the findings, the gravest first."""
    found = advice_on(open_run(arguments.run_name))
    if arguments.json:
        print_json({"findings": [advice_to_plain(advice) for advice in found]})
        return 0
    for advice in found:
        print(printable(advice_text(advice)))
    if not found:
        print(f"Nothing to report. {watched_words()}")
    return 0
