"""`workbench pause`: pauses a run, to be resumed later."""

from __future__ import annotations

import argparse

from workbench.cli import stop
from workbench.cli._options import add_run

NAME = "pause"
HELP = "pause a run, to be continued with `workbench resume`"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN: a folder or a name that `workbench runs` lists."""
    add_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Does what `workbench stop --pause` does."""
    arguments.pause = True
    return stop.run(arguments)
