"""`workbench load`: a project and a weights file become a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._load import load_file
from workbench.cli._options import add_json_option, add_project, add_run_option
from workbench.protocol.messages import WEIGHTS_ENDINGS

NAME = "load"
HELP = "create a run from a project and a weights file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT, WEIGHTS, --run, --json."""
    add_project(parser, "the network's project")
    parser.add_argument("weights", metavar="WEIGHTS", type=Path, help=", ".join(WEIGHTS_ENDINGS))
    add_run_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Makes the run; nothing is made of a file that is refused."""
    return load_file(arguments, arguments.weights, arguments.folder)
