"""`workbench undo`: takes back what `classify --copy-into` or `--move-into` has done."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import add_json_option
from workbench.cli._output import print_line, report
from workbench.cli._sorting import (
    add_consent_options,
    failed_lines,
    is_wanted,
    named,
    refuse_unanswered,
)
from workbench.pictures.sorting import read_undo, undo
from workbench.pictures.sorting.words import undo_question, undone_words

NAME = "undo"
HELP = "take back what classify has copied or moved into class folders"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE, --dry-run, --yes, --json."""
    parser.add_argument("file", metavar="FILE", type=Path, help="undo file, in the folder")
    add_consent_options(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Puts moved images back, or deletes copies, after a question."""
    refuse_unanswered(arguments)
    what = read_undo(arguments.file)
    if not is_wanted(arguments, undo_question(what)):
        plan = {"is_move": what.is_move, "images": len(what.images)}
        report({"plan": plan}, "Nothing was changed.", as_json=arguments.json)
        return 0
    done = undo(what)
    plain = {"images": done.num_done, "kept": named(done.kept)}
    report(plain, undone_words(what, done), as_json=arguments.json)
    if not arguments.json:
        for line in failed_lines(done.kept):
            print_line(line)
    return 1 if done.kept else 0
