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
from workbench.errors import UsageError
from workbench.pictures.sorting import read_undo, undo
from workbench.pictures.sorting.words import foreign_words, undo_question, undone_words
from workbench.runs.trust import undo_key

NAME = "undo"
HELP = "take back what classify has copied or moved into class folders"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds FILE, --dry-run, --yes, --foreign, --json."""
    parser.add_argument("file", metavar="FILE", type=Path, help="undo file, in the folder")
    add_consent_options(parser)
    parser.add_argument(
        "--foreign",
        action="store_true",
        help="with --yes: also where the file was not written by you on this computer",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Puts moved images back, or deletes copies, after a question; what was not written here is
    asked about with all folders.
    """
    refuse_unanswered(arguments)
    what = read_undo(arguments.file, sealer=undo_key)
    if what.is_foreign and not arguments.json:
        print_line(foreign_words(what))
    if what.is_foreign and arguments.yes and not (arguments.foreign or arguments.dry_run):
        raise UsageError(
            "This undo file was not written by you on this computer.",
            where=str(what.path),
            received=", ".join(what.places())[:4000],
            expected="an undo file with the mark of your own key",
            fix="Look at its steps with --dry-run; add --foreign where you want all of them.",
        )
    if not is_wanted(arguments, undo_question(what)):
        steps = what.steps()
        plan = {
            "is_move": what.is_move,
            "images": len(what.images),
            "is_foreign": what.is_foreign,
            "files": [{"from": at, "to": to or None} for at, to in steps],
        }
        if arguments.dry_run and not arguments.json:
            for at, to in steps:
                print_line(f"{at} -> {to}" if to else f"delete {at}")
        report({"plan": plan}, "Nothing was changed.", as_json=arguments.json)
        return 0
    done = undo(what)
    plain = {"images": done.num_done, "kept": named(done.kept)}
    report(plain, undone_words(what, done), as_json=arguments.json)
    if not arguments.json:
        for line in failed_lines(done.kept):
            print_line(line)
    return 1 if done.kept else 0
