"""Waiting for a run's turn in the queue, in front of a terminal."""

from __future__ import annotations

import time

from workbench.cli._output import tell
from workbench.runs.control import ask_to_stop
from workbench.runs.folder import RunFolder
from workbench.runs.queue import cancel, is_waiting, num_before, start_next, waiting_words

_LOOK_S = 1.0


def wait_for_turn(folder: RunFolder, *, is_quiet: bool) -> None:
    """Returns when a queued run has been started, here or by another trainer's end.

    Ctrl+C takes it out of the queue.

    Raises:
        KeyboardInterrupt: Ctrl+C, and it had not begun.
    """
    said = ""
    try:
        while is_waiting(folder):
            start_next(folder.path.parent)  # the last trainer may have been killed
            if not is_waiting(folder):
                break
            words = waiting_words(num_before(folder))
            if words != said and not is_quiet:
                tell(words)
            said = words
            time.sleep(_LOOK_S)
    except KeyboardInterrupt:
        if is_waiting(folder):
            cancel(folder)
            raise
        ask_to_stop(folder)  # it has just begun: follow it to its end
