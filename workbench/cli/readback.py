"""`workbench readback`: what a notebook has left becomes a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._output import add_json_option, print_json, tell
from workbench.cli._service import ask
from workbench.core.projects.project_file import project_text, read_project
from workbench.errors import UsageError
from workbench.protocol.messages import Done, LoadWeights

NAME = "readback"
HELP = "import workbench_result.zip from an exported notebook as a run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ZIP, PROJECT, --json."""
    parser.add_argument("zip", metavar="ZIP", type=Path)
    parser.add_argument(
        "project",
        metavar="PROJECT",
        type=Path,
        help="the project that the notebook was exported from",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Makes the run; nothing is made of a file that is refused."""
    if arguments.zip.suffix.lower() != ".zip":
        raise UsageError(
            "Not a notebook result.",
            received=str(arguments.zip),
            expected="workbench_result.zip",
        )
    request = LoadWeights(
        id=1,
        project=project_text(read_project(arguments.project)),
        weights=str(arguments.zip.resolve()),
    )
    for answer in ask(request, is_quiet=arguments.json):
        if isinstance(answer, Done):
            if arguments.json:
                print_json({"run": answer.path, "text": answer.text})
            else:
                tell(f"{answer.text} Run: {answer.path}.")
    return 0
