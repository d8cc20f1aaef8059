"""`workbench set`: changes settings in a project file."""

from __future__ import annotations

import argparse

from workbench.cli._options import add_json_option, add_project
from workbench.cli._output import report
from workbench.cli._settings import changed, list_keys_in_help
from workbench.core.projects.project_file import read_project, save_project

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
    project = changed(read_project(arguments.project), arguments.values)
    save_project(project, arguments.project)
    value = {"project": str(arguments.project), "values": arguments.values}
    words = f"Changed {arguments.project}: {', '.join(arguments.values)}."
    report(value, words, as_json=arguments.json)
    return 0
