"""`workbench [PROJECT]`: opens the window."""

from __future__ import annotations

import argparse

NAME = "gui"
HELP = "open the window (what `workbench [PROJECT]` does)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """An optional PROJECT."""
    parser.add_argument("project", metavar="PROJECT", nargs="?", default=None)


def run(arguments: argparse.Namespace) -> int:
    """Runs the window until it is closed."""
    # Late, so that commands for the terminal never load Qt.
    from workbench.app import run_window  # noqa: PLC0415

    return run_window(arguments.project)
