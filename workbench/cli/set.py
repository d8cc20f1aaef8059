"""`workbench set`: changes settings in a project file."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import add_json_option, add_project
from workbench.cli._output import report
from workbench.cli._settings import changed, list_keys_in_help
from workbench.core.projects.project_file import project_bytes, read_stamped
from workbench.core.storage.file_stamp import OnlyOver
from workbench.core.storage.save import save_bytes
from workbench.runs.home import data_home

NAME = "set"
HELP = "change training, data, target or layer settings in a project file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT, KEY=VALUE..., --json."""
    add_project(parser, "project file to change")
    parser.add_argument("values", metavar="KEY=VALUE", nargs="+", help="new value of a setting")
    add_json_option(parser)
    list_keys_in_help(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the file; with a wrong value it stays as it was."""
    path = Path(arguments.project)
    before, stamp = read_stamped(path)
    project = changed(before, arguments.values)
    guard = OnlyOver(path, [stamp], data_home() / "open")  # a window may be saving it just now
    save_bytes(path, project_bytes(project, path), guard=guard)
    value = {"project": str(arguments.project), "values": arguments.values}
    words = f"Changed {arguments.project}: {', '.join(arguments.values)}."
    report(value, words, as_json=arguments.json)
    return 0
