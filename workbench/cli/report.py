"""`workbench report`: all that is known of a run as one HTML file or one PDF."""

from __future__ import annotations

import argparse

from workbench.cli._options import (
    add_json_option,
    add_output,
    add_run,
    needed_output,
    refuse_existing,
)
from workbench.cli._output import report as print_report
from workbench.cli._service import ask_one
from workbench.protocol.export import MakeReport
from workbench.protocol.messages import Done
from workbench.report.write import check_ending
from workbench.runs.library.index import open_run
from workbench.runs.store.notes import CARD_FIELDS, CardText, change_notes, read_notes

NAME = "report"
HELP = "write the report of a run: figures, test, examples, data, model card"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN, OUT, the texts of the model card, --force, --json."""
    add_run(parser)
    add_output(parser, "file to write, .html or .pdf")
    for key, title, hint in CARD_FIELDS:
        parser.add_argument(
            f"--{key.replace('_', '-')}",
            dest=key,
            metavar="TEXT",
            help=f"{title.lower()}, for the model card: {hint} Kept with the run",
        )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes OUT; a file that was there before stays when it fails."""
    arguments.out = needed_output(arguments)
    check_ending(arguments.out)
    refuse_existing(arguments.out, force=arguments.force)
    folder = open_run(arguments.run_name)
    given = {key: getattr(arguments, key) for key, *_ in CARD_FIELDS}
    if any(text is not None for text in given.values()):
        old = read_notes(folder).card
        texts = {k: getattr(old, k) if text is None else text for k, text in given.items()}
        change_notes(folder, card=CardText(**texts))
    out = str(arguments.out.absolute())
    request = MakeReport(id=1, run=str(folder.path), path=out)
    done = ask_one(request, Done, is_quiet=arguments.json)
    value = {"run": str(folder.path), "path": out, "text": done.text}
    print_report(value, done.text, as_json=arguments.json)
    return 0
