"""`workbench stop`: requests a stop of a run; its weights are kept."""

from __future__ import annotations

import argparse

from workbench.cli._options import add_run
from workbench.cli._output import print_line
from workbench.cli._project import add_connect_option, agree_on
from workbench.runs.control import request_pause, request_stop
from workbench.runs.library.index import open_run
from workbench.runs.start import reattach
from workbench.runs.state.outcome import outcome_of
from workbench.runs.state.queue import cancel, is_waiting
from workbench.runs.trust import place_of

NAME = "stop"
HELP = "stop a run and save its weights"

_SENDER = "another terminal"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN: a folder or a name that `workbench runs` lists."""
    add_run(parser)
    add_connect_option(parser)
    parser.add_argument(
        "--pause",
        action="store_true",
        help="pause, to be resumed later with `workbench resume`",
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the request to the run's folder; it takes effect within about a second."""
    folder = open_run(arguments.run_name)
    if is_waiting(folder):
        cancel(folder)
        print_line(f"{folder.name} was removed from the queue.")
    elif outcome_of(folder).kind == "away":
        # The run mirror passes it on: a stop that waits for a connection costs hours of a TPU.
        agree_on(arguments, place_of(folder))
        (request_pause if arguments.pause else request_stop)(folder, sender=_SENDER)
        reattach(folder)
        print_line(
            f"Reconnecting to the computer that trains {folder.name}. The run ends as soon as "
            f"the request arrives there; `workbench attach {folder.name}` follows it."
        )
    elif not folder.is_alive():
        print_line(f"{folder.name} is not running.")
    elif arguments.pause:
        request_pause(folder, sender=_SENDER)
        print_line(f"{folder.name} is pausing; `workbench resume {folder.name}` continues it.")
    else:
        request_stop(folder, sender=_SENDER)
        print_line(f"{folder.name} is stopping; it saves its weights first.")
    return 0
