"""Asking before an address that came with a file is connected to."""

from __future__ import annotations

import argparse
import sys

from workbench.cli._output import prompt
from workbench.core.projects.project import Choice
from workbench.runs.places import UnknownPlaceError, check_known, remember


def add_connect_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--connect`."""
    parser.add_argument(
        "--connect",
        action="store_true",
        help="connect to the addresses that the project or run names, without a question",
    )


def agree_on(arguments: argparse.Namespace, *choices: Choice) -> None:
    """Lets targets and data sets be connected to, where the user agrees: by `--connect`, or by the
    answer to one question with all addresses.

    Raises:
        UnknownPlaceError: the user has not agreed, or cannot be asked.
        SaveError: the answer cannot be kept.
    """
    try:
        check_known(*choices)
    except UnknownPlaceError as error:
        if not (arguments.connect or _says_yes(arguments, error)):
            error.fix = f"Add --connect only if you know {error.where}. The answer is remembered."
            raise
    remember(*choices)


def _says_yes(arguments: argparse.Namespace, error: UnknownPlaceError) -> bool:
    if getattr(arguments, "json", False) or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return prompt(f"{error.what} It came with a file.").casefold() in {"y", "yes"}
