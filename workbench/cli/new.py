"""`workbench new`: a project file from a template."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from workbench.cli._output import print_line
from workbench.core.projects.project import new_project_id
from workbench.core.projects.project_file import save_project
from workbench.errors import UsageError
from workbench.templates import find_template

NAME = "new"
HELP = "create a project file from a template"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """TEMPLATE and FILE."""
    parser.add_argument("template", metavar="TEMPLATE", help="key of a template")
    parser.add_argument("file", metavar="FILE", type=Path, help="project file to create")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def run(arguments: argparse.Namespace) -> int:
    """Writes the file; an existing one is kept unless --force is given."""
    template = find_template(arguments.template)
    if arguments.file.exists() and not arguments.force:
        raise UsageError(
            "This file already exists.",
            where=str(arguments.file),
            fix="Choose another name, or use --force to overwrite it.",
        )
    save_project(replace(template.project, id=new_project_id()), arguments.file)
    print_line(f"Wrote {arguments.file}: {template.title}.")
    return 0
