"""`workbench load`: a project and a weights file become a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import add_json_option, add_project, add_run_option
from workbench.cli._output import report
from workbench.cli._outside import keep_listed
from workbench.cli._service import ask_one
from workbench.core.projects.project_file import project_text, read_project
from workbench.protocol.messages import Done
from workbench.protocol.weights import WEIGHTS_ENDINGS, LoadWeights
from workbench.runs.folder import RunFolder

NAME = "load"
HELP = "create a run from a project and a weights file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT, WEIGHTS, --run, --json."""
    add_project(parser, "the network's project")
    parser.add_argument("weights", metavar="WEIGHTS", type=Path, help=", ".join(WEIGHTS_ENDINGS))
    add_run_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Makes the run; nothing is made of a file that is rejected."""
    return load_file(arguments, arguments.weights, arguments.folder)


def load_file(arguments: argparse.Namespace, file: Path, folder: Path | None = None) -> int:
    """Loads a file in a worker, and prints the new run.

    Args:
        arguments: With `project` and `json`.
        file: The weights, or the result of a notebook.
        folder: The new run's folder; one among the user's runs where None.
    """
    request = LoadWeights(
        id=1,
        project=project_text(read_project(arguments.project)),
        weights=str(file.resolve()),
        run=str(folder.absolute()) if folder is not None else "",
    )
    done = ask_one(request, Done, is_quiet=arguments.json)
    keep_listed(RunFolder(Path(done.path)))
    value, words = {"run": done.path, "text": done.text}, f"{done.text} Run: {done.path}."
    report(value, words, as_json=arguments.json)
    return 0
