"""What a trainer is asked to do: one small file, written by anyone, read by the trainer."""

from __future__ import annotations

import contextlib
from typing import Literal

from workbench.core.save import save_bytes
from workbench.runs.folder import RunFolder

Wish = Literal["stop", "pause"]

_WISHES: dict[bytes, Wish] = {b"stop": "stop", b"pause": "pause"}
_MAX_BYTES = 16


def ask_to_stop(run: RunFolder) -> None:
    """Asks the trainer to finish its current steps, test and save the weights, and end.

    Raises:
        SaveError: the run folder cannot be written.
    """
    save_bytes(run.control_path, b"stop\n")


def ask_to_pause(run: RunFolder) -> None:
    """Asks the trainer to finish its current steps, keep a checkpoint and end: `resume` goes
    on from there.

    Raises:
        SaveError: the run folder cannot be written.
    """
    save_bytes(run.control_path, b"pause\n")


def wish_of(run: RunFolder) -> Wish | None:
    """What was asked last; None for nothing. Cheap: one look at the folder."""
    try:
        with run.control_path.open("rb") as file:
            return _WISHES.get(file.read(_MAX_BYTES).strip())
    except OSError:
        return None


def forget_wish(run: RunFolder) -> None:
    """Removes what an earlier trainer of this run was asked; called before one is started."""
    with contextlib.suppress(FileNotFoundError):
        run.control_path.unlink()
