"""Starts or cancels a run on behalf of another computer, under the rules of the local queue."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from workbench.errors import WorkbenchError
from workbench.runs.folder import RunFolder
from workbench.runs.start import joins_another, start_trainer
from workbench.runs.state.queue import cancel as take_out
from workbench.runs.state.queue import enqueue, is_waiting, start_next
from workbench.runs.trust import places_of, remember, seal_cluster


def start(folder: str, *, resume: bool) -> int:
    """Puts a run into the queue of its home and starts what is next there. What joins another
    computer's training starts at once: the others wait for it.

    Prints one line of JSON: whether it waits, or the error; returns the exit code.
    """

    def begin(run: RunFolder) -> None:
        # Requested over a line of the user's own, as are the machines that it trains with.
        remember(*places_of(run))
        seal_cluster(run)
        if joins_another(run):
            start_trainer(run)
        else:
            enqueue(run, resume=resume)
            start_next(run.path.parent)

    return _print_result(folder, begin)


def cancel(folder: str) -> int:
    """Removes a run from the queue of its home; prints and returns as `start`."""
    return _print_result(folder, take_out)


def _print_result(folder: str, act: Callable[[RunFolder], object]) -> int:
    try:
        run = RunFolder(Path(folder).absolute())
        run.request()  # refused where it is no run
        act(run)
        result: dict[str, Any] = {"is_waiting": is_waiting(run)}
        exit_code = 0
    except WorkbenchError as error:
        result, exit_code = {"error": error.to_dict()}, error.exit_code
    sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
    return exit_code
