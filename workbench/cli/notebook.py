"""`workbench notebook`: a project as a program for Colab, Kaggle or a TPU host."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._output import add_json_option, print_json, tell
from workbench.cli._service import ask
from workbench.core.projects.project_file import project_text, read_project
from workbench.errors import UsageError
from workbench.exports import project_exports
from workbench.protocol.messages import Done, ExportProject

NAME = "notebook"
HELP = "write a notebook or script that trains a project on Colab, Kaggle or a TPU host"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT, OUT, --json."""
    parser.add_argument("project", metavar="PROJECT", type=Path)
    parser.add_argument("out", metavar="OUT", type=Path, help="file name ending in .ipynb or .py")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes OUT; what stood there before stays when it fails."""
    formats = {spec.suffix: key for key, spec in project_exports().items()}
    key = formats.get(arguments.out.suffix.lower())
    if key is None:
        raise UsageError(
            "Unknown file extension.",
            received=str(arguments.out),
            expected="a file name ending in " + " or ".join(formats),
        )
    out = str(arguments.out.resolve())
    project = project_text(read_project(arguments.project))
    request = ExportProject(id=1, project=project, format=key, path=out)
    for answer in ask(request, is_quiet=arguments.json):
        if isinstance(answer, Done):
            if arguments.json:
                print_json({"format": key, "path": answer.path, "text": answer.text})
            else:
                tell(answer.text)
    return 0
