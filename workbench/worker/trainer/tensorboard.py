"""TensorBoard files of a training, written as it goes. They never disturb it: what goes
wrong is told once, and training goes on without them.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.protocol.events import RunEvent
from workbench.runs.export.tensorboard_log import FOLDER_NAME, TensorBoardLog
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home
from workbench.settings.settings_file import read_settings


def tensorboard_listener(
    run: RunFolder, warn: Callable[[str], None]
) -> Callable[[RunEvent], None] | None:
    """What a Teller hands each event to; None when the user wants no such files.

    Args:
        run: The run whose folder they are written to.
        warn: Tells a sentence in the log.
    """
    is_wanted = read_settings(data_home()).writes_tensorboard
    return _Listener(run, warn).hear if is_wanted else None


class _Listener:
    def __init__(self, run: RunFolder, warn: Callable[[str], None]) -> None:
        self._log: TensorBoardLog | None = TensorBoardLog(run.path / FOLDER_NAME)
        self._warn = warn

    def hear(self, event: RunEvent) -> None:
        if self._log is None:
            return
        try:
            self._log.add(event)
        except OSError as error:
            log, self._log = self._log, None  # first: the warning is an event too
            log.close()
            reason = error.strerror or str(error)
            self._warn(f"TensorBoard files are no longer written: {reason}.")
