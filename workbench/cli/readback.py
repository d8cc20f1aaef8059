"""`workbench readback`: what a notebook has left becomes a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import add_json_option, add_project
from workbench.cli.load import load_file
from workbench.errors import UsageError
from workbench.protocol.weights import RESULT_ENDING

NAME = "readback"
HELP = "import workbench_result.zip from an exported notebook as a run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds ZIP, PROJECT, --json."""
    parser.add_argument("zip", metavar="ZIP", type=Path, help="workbench_result.zip")
    add_project(parser, "the project that the notebook was exported from")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Makes the run; nothing is made of a file that is rejected."""
    if arguments.zip.suffix.lower() != RESULT_ENDING:
        raise UsageError(
            "Not a notebook result.",
            received=str(arguments.zip),
            expected="workbench_result.zip",
        )
    return load_file(arguments, arguments.zip)
