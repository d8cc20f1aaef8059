"""How data sets are written on the command line, in words."""

from __future__ import annotations

import argparse

from workbench.core.projects.source import source_forms
from workbench.datasets import all_datasets


def source_words() -> str:
    """The forms of all data sets."""
    return "data set: " + ", ".join(source_forms(all_datasets()))


def add_data_option(parser: argparse._ActionsContainer, words: str = "") -> None:
    """Adds `--data SOURCE`; for any data set unless the words name some."""
    parser.add_argument("--data", metavar="SOURCE", help=words or source_words())
