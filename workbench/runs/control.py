"""What a trainer is asked to do: one small file, written by anyone, read by the trainer."""

from __future__ import annotations

from workbench.core.save import save_bytes
from workbench.runs.folder import RunFolder

_STOP = b"stop\n"


def ask_to_stop(run: RunFolder) -> None:
    """Asks the trainer to finish its current steps, save the weights and end.

    Raises:
        SaveError: the run folder cannot be written.
    """
    save_bytes(run.control_path, _STOP)


def is_stop_asked(run: RunFolder) -> bool:
    """True once somebody has asked the trainer to stop. Cheap: one look at the folder."""
    try:
        with run.control_path.open("rb") as file:
            return file.read(len(_STOP)).strip() == _STOP.strip()
    except OSError:
        return False
