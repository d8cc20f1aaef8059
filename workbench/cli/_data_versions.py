"""`workbench data versions`: named versions of a project's data edits."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.cli._options import add_json_option, add_project
from workbench.cli._output import print_json, print_line, print_text
from workbench.core.projects.data_versions import (
    MAX_NAME,
    MAX_VERSIONS,
    DataVersion,
    difference_words,
    edits_of_version,
    is_name,
    version_named,
    with_version,
)
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import project_bytes, read_stamped
from workbench.core.storage.file_stamp import OnlyOver
from workbench.core.storage.save import save_bytes
from workbench.errors import UsageError
from workbench.runs.home import data_home


def add_versions(commands: Any) -> None:
    """Adds `versions PROJECT [save|use|delete NAME]`, among the commands of `data`."""
    parser = commands.add_parser("versions", help="save the data edits by a name, and go back")
    add_project(parser)
    parser.add_argument(
        "what",
        nargs="?",
        metavar="save|use|delete",
        choices=("save", "use", "delete"),
        help="keep the present edits, go back to a version, or forget one; without it, versions "
        "are listed",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the version")
    add_json_option(parser)
    parser.set_defaults(run_data=_versions)


def _versions(arguments: argparse.Namespace) -> int:
    path = Path(arguments.project)
    before, stamp = read_stamped(path)
    after = _after(before, arguments.what, arguments.name)
    if after != before:
        guard = OnlyOver(path, [stamp], data_home() / "open")
        save_bytes(path, project_bytes(after, path), guard=guard)
    if arguments.json:
        print_json({"project": str(path), "versions": [_plain(e, after) for e in _newest(after)]})
        return 0
    for version in _newest(after):
        differs = difference_words(version.edits, after.edits)
        now = f"differs from now by {differs}" if differs else "as now"
        print_text(f"{version.name:30} {version.date}  {now}")
    if not after.data_versions:
        print_line("No version has been saved.")
    return 0


def _after(project: Project, what: str | None, name: str | None) -> Project:
    """The project once it was done."""
    if what is None:
        return project
    if what == "save":
        return _saved(project, name)
    version = version_named(project.data_versions, name or "")
    if version is None:
        raise UsageError(
            "There is no such version.",
            received=name or "no name",
            expected="one of " + (", ".join(v.name for v in project.data_versions) or "none"),
        )
    if what == "use":
        return replace(project, edits=edits_of_version(version, project.edits))
    others = tuple(each for each in project.data_versions if each != version)
    return replace(project, data_versions=others)


def _saved(project: Project, name: str | None) -> Project:
    if not is_name(name) or name is None:
        raise UsageError(
            "A version needs a name.",
            received=name or "no name",
            expected=f"1 to {MAX_NAME} printable characters",
        )
    versions = with_version(project.data_versions, name.strip(), project.edits)
    if len(versions) > MAX_VERSIONS:
        raise UsageError(
            "The project has as many versions as it can have.",
            received=f"{len(versions):,} versions",
            expected=f"at most {MAX_VERSIONS}",
            fix="Delete one first.",
        )
    return replace(project, data_versions=versions)


def _newest(project: Project) -> list[DataVersion]:
    return list(reversed(project.data_versions))


def _plain(version: DataVersion, project: Project) -> dict[str, Any]:
    differs = difference_words(version.edits, project.edits)
    return {
        "name": version.name,
        "date": version.date,
        "differs": differs,
        "is_current": not differs,
    }
