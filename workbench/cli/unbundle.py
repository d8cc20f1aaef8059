"""`workbench unbundle`: unpacks what `workbench bundle` has written."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_line
from workbench.core.format import plural
from workbench.moving.unbundle import open_bundle

NAME = "unbundle"
HELP = "unpack a bundle into a new folder: project, runs and images"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds BUNDLE, FOLDER, --json."""
    parser.add_argument("bundle", metavar="BUNDLE", type=Path, help="file to open")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="new folder to make of it")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Unpacks it, whole or not at all."""
    opened = open_bundle(arguments.bundle, arguments.folder)
    if arguments.json:
        print_json({"project": str(opened.project), "runs": [str(run) for run in opened.runs]})
    else:
        runs = plural(len(opened.runs), "run")
        print_line(f"Unpacked {opened.project}, with {runs}.")
    return 0
