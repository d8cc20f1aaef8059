"""`workbench layers`: the layer types, with the category of each."""

from __future__ import annotations

import argparse

from workbench.cli._options import add_json_option
from workbench.cli._output import print_json
from workbench.layers import all_layers

NAME = "layers"
HELP = "list the layer types"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments but --json."""
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints key, title and category of each layer type."""
    for spec in all_layers().values():
        if arguments.json:
            print_json({"key": spec.key, "title": spec.title, "category": spec.category})
        else:
            print(f"{spec.title:28} {spec.category}")
    return 0
