"""`workbench templates`: the networks to start from."""

from __future__ import annotations

import argparse

from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_text
from workbench.templates import list_templates

NAME = "templates"
HELP = "list the templates"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --json alone."""
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints key, title, data set, parameters and what the images need of each template."""
    for template in list_templates():
        if arguments.json:
            print_json(
                {
                    "key": template.key,
                    "title": template.title,
                    "dataset": template.project.dataset.key,
                    "parameters": template.parameters,
                    "summary": template.summary,
                    "images": template.data_note,
                    "differs": template.differs,
                }
            )
        else:
            dataset = template.project.dataset.key
            words = f"{template.key:18} {template.parameters:>12,}  {dataset:14} {template.title}"
            print_text(f"{words} · {template.data_note}")
    return 0
