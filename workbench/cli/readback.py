"""`workbench readback`: what a notebook has left becomes a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._load import load_file
from workbench.cli._output import add_json_option
from workbench.errors import UsageError
from workbench.protocol.messages import RESULT_ENDING

NAME = "readback"
HELP = "make a run out of the workbench_result.zip that an exported notebook has left"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ZIP, PROJECT, --json."""
    parser.add_argument("zip", metavar="ZIP", type=Path)
    parser.add_argument(
        "project", metavar="PROJECT", type=Path, help="the project that the notebook was made of"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Makes the run; nothing is made of a file that is refused."""
    if arguments.zip.suffix.lower() != RESULT_ENDING:
        raise UsageError(
            "A notebook leaves a zip file.",
            received=str(arguments.zip),
            expected="workbench_result.zip",
        )
    return load_file(arguments, arguments.zip)
