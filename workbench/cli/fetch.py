"""`workbench fetch`: brings what there is of a run on another computer, without following it."""

from __future__ import annotations

import argparse

from workbench.cli._options import add_json_option, add_run
from workbench.cli._output import report
from workbench.cli._project import add_connect_option, agree_on
from workbench.remote.mirror.process import fetch
from workbench.runs.library.index import open_run
from workbench.runs.store.checkpoint import newest_state
from workbench.runs.trust import place_of

NAME = "fetch"
HELP = "fetch checkpoints and weights of a run from the computer that trains it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN: a folder or a name that `workbench runs` lists."""
    add_run(parser)
    add_connect_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Fetches once; 4 when the other computer cannot be reached."""
    folder = open_run(arguments.run_name)
    agree_on(arguments, place_of(folder))
    fetch(folder)
    state = newest_state(folder)
    step = state.step if state is not None else None
    has_model = folder.has_model()
    words = "No checkpoint fetched yet." if step is None else f"Latest checkpoint: step {step:,}."
    words += " Weights fetched." if has_model else " No weights fetched yet."
    value = {"run": str(folder.path), "step": step, "has_model": has_model}
    report(value, words, as_json=arguments.json)
    return 0
