"""`workbench notebook`: a project as a program for Colab, Kaggle or a TPU host."""

from __future__ import annotations

import argparse

from workbench.cli._options import (
    add_json_option,
    add_output,
    add_project,
    needed_output,
    refuse_existing,
)
from workbench.cli._output import report
from workbench.cli._service import ask_one
from workbench.core.projects.project_file import project_text, read_project
from workbench.errors import UsageError
from workbench.exports import training_exports
from workbench.protocol.export import ExportProject
from workbench.protocol.messages import Done

NAME = "notebook"
HELP = "write a notebook or script that trains a project on Colab, Kaggle or a TPU host"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds PROJECT, OUT, --force, --json."""
    add_project(parser)
    add_output(parser, "file name ending in .ipynb or .py; the images beside it: NAME.images.npz")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes OUT; a file that was there before stays when it fails."""
    formats = {spec.suffix: key for key, spec in training_exports().items()}
    arguments.out = needed_output(arguments)
    key = formats.get(arguments.out.suffix.lower())
    if key is None:
        raise UsageError(
            "Unknown file extension.",
            received=str(arguments.out),
            expected="a file name ending in " + " or ".join(formats),
        )
    refuse_existing(arguments.out, force=arguments.force)
    out = str(arguments.out.absolute())
    project = project_text(read_project(arguments.project))
    request = ExportProject(id=1, project=project, format=key, path=out)
    done = ask_one(request, Done, is_quiet=arguments.json)
    value = {"format": key, "path": done.path, "text": done.text}
    report(value, done.text, as_json=arguments.json)
    return 0
