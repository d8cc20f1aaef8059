"""`workbench export`: a run's model, or a project without one, for the world outside."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from rich.table import Table

from workbench.cli._options import RUN_WORDS, add_force, add_json_option, refuse_existing
from workbench.cli._output import console, print_json, print_line, report
from workbench.cli._service import ask, ask_one
from workbench.core.outside_text import one_line
from workbench.core.projects.project_file import PROJECT_SUFFIX, project_text, read_project
from workbench.errors import UsageError
from workbench.exports import run_exports, untrained_exports
from workbench.protocol.export import Export, Exported, ExportProject, ExportProof
from workbench.protocol.messages import Done
from workbench.runs.export.proof_table import COLUMNS, proof_rows, read_exports
from workbench.runs.folder import RunFolder
from workbench.runs.library.index import find_model

NAME = "export"
HELP = "write a model in another format, proved by reading it back; or as a Python script"

_NEEDS_RUN = "This format needs weights, and a project file has none."
_FILE_WIDTH = 160
_FIGURES = ("checked_pictures", "max_difference", "top1_agreement", "milliseconds")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN, FORMAT, OUT, --folder, --list, --force, --json."""
    words = f"{RUN_WORDS}; or a project file, trained or not: {', '.join(untrained_exports())}"
    parser.add_argument("model", metavar="RUN", help=words)
    parser.add_argument("format", metavar="FORMAT", nargs="?", help=", ".join(run_exports()))
    parser.add_argument("out", metavar="OUT", nargs="?", type=Path, help="file or folder to write")
    parser.add_argument(
        "--folder",
        action="store_true",
        dest="is_ready_folder",
        help="OUT is a folder: the model, class names, a script that classifies, README, license",
    )
    parser.add_argument(
        "--list",
        action="store_true",
        dest="is_list",
        help="show how the exports of RUN compare with its model",
    )
    add_force(parser, "OUT")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes OUT; a file that was there before stays when it fails."""
    if arguments.is_list:
        return _list(arguments)
    if arguments.out is None:
        raise UsageError(
            "FORMAT and OUT are missing.",
            expected="workbench export RUN FORMAT OUT, with FORMAT one of "
            + ", ".join(run_exports()),
        )
    is_project = arguments.model.endswith(PROJECT_SUFFIX) and Path(arguments.model).is_file()
    formats = untrained_exports() if is_project else run_exports()
    if arguments.format not in formats:
        raise UsageError(
            _NEEDS_RUN if arguments.format in run_exports() else "Unknown export format.",
            received=arguments.format,
            expected="one of " + ", ".join(formats),
            fix="Train it, and export the run." if is_project else "",
        )
    spec, out = formats[arguments.format], arguments.out
    out = out if arguments.is_ready_folder else spec.named(out)
    refuse_existing(out, force=arguments.force)
    return _export_project(arguments) if is_project else _export_run(arguments)


def _export_project(arguments: argparse.Namespace) -> int:
    if arguments.is_ready_folder:
        raise UsageError("A ready folder needs weights, and a project file has none.")
    out = str(arguments.out.absolute())
    project = project_text(read_project(Path(arguments.model)))
    request = ExportProject(id=1, project=project, format=arguments.format, path=out)
    done = ask_one(request, Done, is_quiet=arguments.json)
    value = {"format": arguments.format, "path": done.path or out, "text": done.text}
    report(value, done.text or f"Wrote {out}.", as_json=arguments.json)
    return 0


def _export_run(arguments: argparse.Namespace) -> int:
    request = Export(
        id=1,
        model=find_model(arguments.model),
        format=arguments.format,
        path=str(arguments.out.absolute()),
        is_ready_folder=arguments.is_ready_folder,
    )
    answers = list(ask(request, is_quiet=arguments.json))
    (proof,) = (each.proof for each in answers if isinstance(each, Exported))
    (done,) = (each for each in answers if isinstance(each, Done))
    value = {**_value(proof), "path": done.path, "text": done.text}
    report(value, done.text, as_json=arguments.json)
    return 0


def _value(proof: ExportProof) -> dict[str, Any]:
    value: dict[str, Any] = msgspec.to_builtins(proof)
    if not proof.checked_pictures:  # a format without answers
        value.update(dict.fromkeys(_FIGURES))
    return value


def _list(arguments: argparse.Namespace) -> int:
    """Prints the kept figures of a run's exports."""
    proofs = read_exports(RunFolder(Path(find_model(arguments.model))))
    if arguments.json:
        for proof in proofs.values():
            print_json(_value(proof))
    elif proofs:
        _print_table(list(proofs.values()))
    else:
        print_line("This run has not been exported yet.")
    return 0


def _print_table(proofs: Sequence[ExportProof]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in COLUMNS:
        side: Literal["left", "right"] = "right" if column.is_number else "left"
        table.add_column(column.title, justify=side, no_wrap=True)
    for row in proof_rows(proofs, {}):
        cells = [one_line(text) for text in dataclasses.astuple(row)[:-1]]
        table.add_row(*cells, style="red" if row.is_wrong else "")
    width = None if sys.stdout.isatty() else _FILE_WIDTH
    console(is_result=True, width=width).print(table)
