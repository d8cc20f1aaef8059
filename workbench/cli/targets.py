"""`workbench targets`: what can train here."""

from __future__ import annotations

import argparse

from workbench.cli._output import add_json_option, print_json
from workbench.core.params import defaults
from workbench.targets import all_targets

NAME = "targets"
HELP = "list what can train here"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments but --json."""
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints key, title and description of each target."""
    for spec in all_targets().values():
        words = spec.describe(defaults(spec.params))
        if arguments.json:
            print_json({"key": spec.key, "title": spec.title, "description": words})
        else:
            print(f"{spec.key:16} {spec.title}: {words}")
    return 0
