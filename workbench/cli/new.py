"""`workbench new`: a project file from a template, or for a data set."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from workbench.backbones import all_backbones
from workbench.cli._options import add_force, add_json_option, refuse_existing
from workbench.cli._output import report
from workbench.cli._project import source_words, typed_source
from workbench.cli._service import ask_one
from workbench.core.projects.project import Choice, new_project_id
from workbench.core.projects.project_file import save_project
from workbench.datasets.folder import SPEC as FOLDER
from workbench.errors import UsageError
from workbench.protocol.describe_data import DataDescription, DescribeData
from workbench.starter import (
    BY_DATA,
    DataFacts,
    Start,
    Wish,
    start_for_data,
    start_for_folder,
    start_for_template_of,
)
from workbench.templates import find_template

NAME = "new"
_NONE = "none"
HELP = "create a project file from a template, or for a data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds TEMPLATE or --from SOURCE, FILE, --force, --json."""
    parser.add_argument(
        "template", metavar="TEMPLATE", nargs="?", help="key, see `workbench templates`"
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="project file to create")
    parser.add_argument(
        "--from",
        metavar="SOURCE",
        dest="source",
        help=f"choose network, split and settings that fit a {source_words()}",
    )
    parser.add_argument(
        "--backbone",
        metavar="KEY|none",
        help="with --from: the pretrained network: "
        + ", ".join(all_backbones())
        + f'; "{_NONE}" trains all layers from scratch',
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
    made_of = {"backbone": start.backbone} if start.backbone else {"template": start.template}
    value = {"project": str(arguments.file), **made_of, "reason": start.reason}
    report(value, f"Wrote {arguments.file}: {start.reason}", as_json=arguments.json)
    return 0


def _start(arguments: argparse.Namespace) -> Start:
    if arguments.source is None:
        template = find_template(arguments.template)
        return Start(template.project, template.key, f"{template.title}.")
    wish = _wish(arguments.backbone)
    return start_of(typed_source(arguments.source), wish, is_quiet=arguments.json)


def start_of(choice: Choice, wish: Wish = BY_DATA, *, is_quiet: bool) -> Start:
    """What a new project of a source starts with."""
    if choice.key == FOLDER.key:
        return start_for_folder(choice, wish)
    published = start_for_template_of(choice) if wish is BY_DATA else None
    return published or _described(choice, wish, is_quiet=is_quiet)


def _wish(key: str | None) -> Wish:
    """The pretrained network that `--backbone` asks for; raises UsageError."""
    if key is None or key == _NONE:
        return BY_DATA if key is None else None
    spec = all_backbones().get(key)
    if spec is None:
        expected = ", ".join((*all_backbones(), _NONE))
        raise UsageError("There is no such backbone.", received=key, expected=f"one of {expected}")
    return spec


def _described(choice: Choice, wish: Wish, *, is_quiet: bool) -> Start:
    """A start that fits the images and classes that a worker finds in a source."""
    request = DescribeData(id=1, source=choice.key, params=dict(choice.params))
    found = ask_one(request, DataDescription, is_quiet=is_quiet)
    return start_for_data(DataFacts.of(choice, found), wish)
