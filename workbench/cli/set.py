"""`workbench set`: changes settings in a project file."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.checkup.analysed import analysed
from workbench.cli._options import add_json_option, add_project
from workbench.cli._output import print_line, report
from workbench.cli._project import changed, list_keys_in_help, problems_as_json
from workbench.core.checks.problems import SEVERITY_WORDS, Problem
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import project_bytes, read_stamped
from workbench.core.storage.save import OnlyOver, save_bytes
from workbench.runs.home import data_home

NAME = "set"
HELP = "change training, data, target or layer settings in a project file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds PROJECT, KEY=VALUE..., --json."""
    add_project(parser, "project file to change")
    parser.add_argument("values", metavar="KEY=VALUE", nargs="+", help="new value of a setting")
    add_json_option(parser)
    list_keys_in_help(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the file; with a wrong value it stays as it was. What no longer fits
    then is reported: images that lose their color, classes that do not match.
    """
    path = Path(arguments.project)
    before, stamp = read_stamped(path)
    project = changed(before, arguments.values)
    guard = OnlyOver(path, [stamp], data_home() / "open")  # a window may be saving it just now
    save_bytes(path, project_bytes(project, path), guard=guard)
    found = _new_problems(before, project)
    value = {"project": str(arguments.project), "values": arguments.values}
    words = f"Changed {arguments.project}: {', '.join(arguments.values)}."
    report({**value, "problems": problems_as_json(found)}, words, as_json=arguments.json)
    for each in () if arguments.json else found:
        print_line(f"{SEVERITY_WORDS[each.severity]}: {each.title}. {each.message}")
    return 0


def _new_problems(before: Project, after: Project) -> list[Problem]:
    """What does not fit since a change of the data or of the network; no hints."""
    if (before.dataset, before.graph) == (after.dataset, after.graph):
        return []
    known = analysed(before).problems
    found = analysed(after).problems
    return [each for each in found if each.severity != "hint" and each not in known]
