"""`workbench new`: a project file from a template, or for a data set."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from workbench.cli._options import SOURCE_WORDS, add_force, add_json_option, refuse_existing
from workbench.cli._output import report
from workbench.cli._service import ask_one
from workbench.cli._typed_source import typed_source
from workbench.core.projects.project import Choice, new_project_id
from workbench.core.projects.project_file import save_project
from workbench.datasets.folder import SPEC as FOLDER
from workbench.errors import UsageError
from workbench.protocol.messages import DataDescription, DescribeData
from workbench.starter import (
    DataFacts,
    Start,
    start_for_data,
    start_for_folder,
    start_for_template_of,
)
from workbench.templates import find_template

NAME = "new"
HELP = "create a project file from a template, or for a data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """TEMPLATE or --from SOURCE, FILE, --force, --json."""
    parser.add_argument(
        "template", metavar="TEMPLATE", nargs="?", help="key, see `workbench templates`"
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="project file to create")
    parser.add_argument(
        "--from",
        metavar="SOURCE",
        dest="source",
        help=f"choose network, split and settings that fit a {SOURCE_WORDS}",
    )
    parser.add_argument(
        "--from-scratch",
        action="store_true",
        help="with --from folder:PATH: take no pretrained network",
    )
    add_force(parser, "FILE")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the file; an existing one is kept unless --force is given."""
    if (arguments.template is None) == (arguments.source is None):
        raise UsageError(
            "Give either a template or --from SOURCE.",
            expected="workbench new TEMPLATE FILE, or workbench new --from SOURCE FILE",
        )
    refuse_existing(arguments.file, force=arguments.force)
    start = _start(arguments)
    save_project(replace(start.project, id=new_project_id()), arguments.file)
    value = {"project": str(arguments.file), "template": start.template, "reason": start.reason}
    report(value, f"Wrote {arguments.file}: {start.reason}", as_json=arguments.json)
    return 0


def _start(arguments: argparse.Namespace) -> Start:
    if arguments.source is None:
        template = find_template(arguments.template)
        return Start(template.project, template.key, f"{template.title}.")
    choice = typed_source(arguments.source)
    if choice.key == FOLDER.key:
        folder = str(choice.params[FOLDER.source_param])
        return start_for_folder(folder, from_scratch=arguments.from_scratch)
    return start_for_template_of(choice) or _described(choice, is_quiet=arguments.json)


def _described(choice: Choice, *, is_quiet: bool) -> Start:
    """A start that fits the images and classes that a worker finds in a source."""
    request = DescribeData(id=1, source=choice.key, params=dict(choice.params))
    found = ask_one(request, DataDescription, is_quiet=is_quiet)
    facts = DataFacts(
        choice,
        num_classes=len(found.classes),
        num_images=found.num_train,
        shape=tuple(found.shape),
        short_side=min(found.typical_size, default=None),
    )
    return start_for_data(facts)
