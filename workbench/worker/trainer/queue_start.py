"""Starts or cancels a run on behalf of another computer, under the rules of the local queue."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from workbench.errors import WorkbenchError
from workbench.runs.folder import open_run
from workbench.runs.start import joins_another, start_trainer
from workbench.runs.state.queue import cancel as take_out
from workbench.runs.state.queue import enqueue, is_waiting, start_next


def start(folder: str, *, resume: bool) -> int:
    """Puts a run into the queue of its home and starts what is next there. What joins another
    computer's training starts at once: the others wait for it.

    Prints one line of JSON: whether it waits, or the error; returns the exit code.
    """
    try:
        run = open_run(folder)
        if joins_another(run):
            start_trainer(run)
        else:
            enqueue(run, resume=resume)
            start_next(run.path.parent)
    except WorkbenchError as error:
        _print({"error": error.to_dict()})
        return error.exit_code
    _print({"is_waiting": is_waiting(run)})
    return 0


def cancel(folder: str) -> int:
    """Takes a run out of the queue of its home; prints and returns as `start`."""
    try:
        run = open_run(folder)
        take_out(run)
    except WorkbenchError as error:
        _print({"error": error.to_dict()})
        return error.exit_code
    _print({"is_waiting": is_waiting(run)})
    return 0


def _print(value: dict[str, Any]) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
