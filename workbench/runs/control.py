"""What a trainer is asked to do: one small file, written by anyone, read by the trainer.

Of a run that another computer trains it is the courier that reads it. It passes on what
trainers obey, and obeys what only couriers can.
"""

from __future__ import annotations

from typing import Literal

from workbench.core.storage.save import save_bytes
from workbench.runs.folder import RunFolder

Wish = Literal["stop", "pause"]
CourierWish = Literal["stop", "pause", "terminate", "kill", "leave"]
"""terminate, kill: end the trainer there by a signal; leave: end here, it goes on there."""

_WISHES: dict[bytes, Wish] = {b"stop": "stop", b"pause": "pause"}
_COURIER_WISHES: dict[bytes, CourierWish] = {
    **_WISHES, b"terminate": "terminate", b"kill": "kill", b"leave": "leave"
}  # fmt: skip
_MAX_BYTES = 16


def ask_to_stop(run: RunFolder) -> None:
    """Asks the trainer to finish its current steps, test and save the weights, and end.

    As all of these, raises SaveError where the run folder cannot be written.
    """
    ask_courier(run, "stop")


def ask_to_pause(run: RunFolder) -> None:
    """Asks the trainer to finish its current steps, keep a checkpoint for `resume`, and end."""
    ask_courier(run, "pause")


def ask_courier(run: RunFolder, wish: CourierWish) -> None:
    """Asks the courier of a run for something."""
    save_bytes(run.control_path, wish.encode() + b"\n")


def wish_of(run: RunFolder) -> Wish | None:
    """What was asked last; None for nothing. Cheap: one look at the folder."""
    return _WISHES.get(_asked(run))


def courier_wish_of(run: RunFolder) -> CourierWish | None:
    """What the courier of the run was asked last; None for nothing."""
    return _COURIER_WISHES.get(_asked(run))


def _asked(run: RunFolder) -> bytes:
    try:
        with run.control_path.open("rb") as file:
            return file.read(_MAX_BYTES).strip()
    except OSError:
        return b""


def forget_wish(run: RunFolder) -> None:
    """Removes what an earlier trainer of this run was asked; called before one is started."""
    run.control_path.unlink(missing_ok=True)
