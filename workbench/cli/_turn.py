"""Waiting for a run's turn in the queue, in front of a terminal."""

from __future__ import annotations

import contextlib

from workbench.cli._ctrl_c import CtrlC
from workbench.cli._output import print_line
from workbench.errors import RunFolderError
from workbench.runs.folder import RunFolder
from workbench.runs.state.queue import cancel, is_waiting, num_before, start_next, waiting_words

_LOOK_S = 1.0


def wait_for_turn(folder: RunFolder, ctrl_c: CtrlC, *, is_quiet: bool) -> None:
    """Returns when a queued run has been started, here or by another trainer's end.

    Ctrl+C takes it out of the queue; one that has just begun is left to who follows it.

    Raises:
        KeyboardInterrupt: Ctrl+C, and it had not begun.
    """
    said = ""
    while is_waiting(folder):
        if ctrl_c.is_pressed:
            with contextlib.suppress(RunFolderError):  # another process has started it already
                cancel(folder)
                raise KeyboardInterrupt
            return
        start_next(folder.path.parent)  # the last trainer may have been killed
        if not is_waiting(folder):
            return
        words = waiting_words(num_before(folder))
        if words != said and not is_quiet:
            print_line(words)
        said = words
        ctrl_c.sleep(_LOOK_S)
