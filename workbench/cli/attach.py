"""`workbench attach`: follows a run that trains; connects again to one on another computer."""

from __future__ import annotations

import argparse

from workbench.cli._follow import CtrlC, PastEvents
from workbench.cli._options import add_json_option, add_run
from workbench.cli._output import print_line
from workbench.cli._project import add_connect_option, agree_on
from workbench.cli.train import print_run
from workbench.errors import RunFolderError
from workbench.runs.control import request_retry
from workbench.runs.library.index import open_run
from workbench.runs.link import read_remote
from workbench.runs.start import reattach
from workbench.runs.state.outcome import outcome_of
from workbench.runs.trust import place_of

NAME = "attach"
HELP = "follow a running run, here or on another computer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN: a folder or a name that `workbench runs` lists."""
    add_run(parser)
    add_connect_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the events from now on; 4 when the run fails, 130 when Ctrl+C stopped it."""
    folder = open_run(arguments.run_name)
    past = PastEvents(folder)
    outcome = outcome_of(folder, past.history)
    if outcome.is_over and read_remote(folder) is None:
        raise RunFolderError(
            "This run has ended.",
            where=str(folder.path),
            received=outcome.sentence(),
            fix=f"`workbench resume {folder.name}` continues it."
            if outcome.can_resume
            else "`workbench runs` lists all runs.",
        )
    if outcome.is_over:
        print_line(outcome.sentence())
        return 0
    with CtrlC(folder) as ctrl_c:
        if outcome.kind == "away":
            agree_on(arguments, place_of(folder))
            reattach(folder)
        elif outcome.is_far and outcome.kind == "silent":
            request_retry(folder)
        return print_run(folder, ctrl_c, as_json=arguments.json, past=past)
