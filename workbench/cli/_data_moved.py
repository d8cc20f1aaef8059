"""`workbench data moved`: where images are that runs were trained on, once they were moved."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_line
from workbench.core.format import plural
from workbench.errors import DatasetError
from workbench.moving.found_data import FoundData, look_at
from workbench.runs.moved_data import keep_place_of


def add_moved(commands: Any) -> None:
    """Adds `moved OLD NEW [--force]`, among the commands of `data`."""
    parser = commands.add_parser(
        "moved", help="say where the images of runs are now, after a folder was moved or renamed"
    )
    parser.add_argument("old", metavar="OLD", help="the file or folder as the runs name it")
    parser.add_argument("new", metavar="NEW", help="where it is now")
    parser.add_argument(
        "--force",
        action="store_true",
        help="also where the images cannot be compared with those of the runs, or differ",
    )
    add_json_option(parser)
    parser.set_defaults(run_data=_moved)


def _moved(arguments: argparse.Namespace) -> int:
    found = look_at(arguments.old, arguments.new)
    if Path(found.old).exists():
        raise DatasetError(
            "There is still something at this path: it is used from there.",
            where=found.old,
            fix="Move or rename it first.",
        )
    if not found.is_same and not arguments.force:
        raise DatasetError(
            found.words(),
            where=found.new,
            expected=f"the images that were in {found.old}",
            fix="Name another folder, or use it all the same with --force.",
        )
    keep_place_of(found.old, found.new)
    if arguments.json:
        print_json(_as_json(found))
    else:
        print_line(found.words())
        runs = plural(found.num_runs, "run")
        print_line(f"{found.new} is used in place of {found.old}, by {runs} so far.")
    return 0


def _as_json(found: FoundData) -> dict[str, object]:
    return {
        "old": found.old,
        "new": found.new,
        "runs": found.num_runs,
        "known": found.num_known,
        "compared": found.num_compared,
        "same": found.num_same,
    }
