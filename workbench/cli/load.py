"""`workbench load`: a project and a weights file become a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import add_json_option, add_project, add_run_option
from workbench.cli._output import print_json, report
from workbench.cli._project import keep_listed
from workbench.cli._service import ask
from workbench.core.projects.project_file import project_text, read_project
from workbench.core.storage.foreign_file import SMALL_BYTES, read_foreign
from workbench.errors import InputError, WorkbenchError, os_errors_as
from workbench.protocol.messages import Done
from workbench.protocol.weights import WEIGHTS_ENDINGS, LoadFindings, LoadWeights
from workbench.runs.folder import RunFolder

NAME = "load"
HELP = "create a run from a project and a weights file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds PROJECT, WEIGHTS, --run, --class-order, --classes, --layer-order, --json."""
    add_project(parser, "the network's project")
    parser.add_argument("weights", metavar="WEIGHTS", type=Path, help=", ".join(WEIGHTS_ENDINGS))
    add_run_option(parser)
    parser.add_argument(
        "--class-order",
        metavar="KEY",
        default="",
        help="order of the classes in the file: data (the project's), code_point (as Keras sorts "
        "the names of folders), natural, or another one that the command lists; without it, the "
        "one that the project's images clearly confirm",
    )
    parser.add_argument(
        "--classes",
        metavar="NAME,...",
        default="",
        help="the class of each output, in order; or a file with one a line",
    )
    parser.add_argument(
        "--layer-order",
        choices=("file",),
        default="",
        help="take layers that could be exchanged in the order of the file",
    )
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
        weights=str(file.absolute()),
        run=str(folder.absolute()) if folder is not None else "",
        layer_order=getattr(arguments, "layer_order", ""),
        class_order=getattr(arguments, "class_order", ""),
        class_names=_names(getattr(arguments, "classes", "")),
    )
    found = LoadFindings()
    try:
        for answer in ask(request, is_quiet=arguments.json):
            if isinstance(answer, LoadFindings):
                found = answer
            elif isinstance(answer, Done):
                done = answer
    except WorkbenchError:
        if found.orders and arguments.json:
            print_json(_plain(found))
        raise
    keep_listed(RunFolder(Path(done.path)))
    value = {"run": done.path, "text": done.text, **_plain(found)}
    report(value, f"{done.text} Run: {done.path}.", as_json=arguments.json)
    return 0


def _names(text: str) -> list[str]:
    """Class names as the option has them: separated by commas, or a file with one a line.

    Raises:
        InputError: the file cannot be read.
    """
    path = Path(text)
    if not text or not path.is_file():
        return [name.strip() for name in text.split(",")] if text else []
    with os_errors_as(InputError, "The class names cannot be read.", path):
        try:
            lines = read_foreign(path, SMALL_BYTES).decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise InputError(
                "The class names cannot be read.", where=str(path), received=str(error)
            ) from error
    return [line.strip() for line in lines if line.strip()]


def _plain(found: LoadFindings) -> dict[str, object]:
    """What was inferred, for programs."""
    return {
        "matched_by": found.matched_by,
        "doubts": found.doubts,
        "class_order": {
            "chosen": found.chosen,
            "images": found.num_images,
            "part": found.part,
            "orders": [
                {"order": each.key, "classes": each.names, "accuracy": each.accuracy}
                for each in found.orders
            ],
        },
    }
