"""Set-up of a worker process: its place in the queue of processes that the kernel
ends when the memory runs out; for a trainer its lock and its crash file too.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import time
from collections.abc import Iterator
from pathlib import Path

from workbench.core.storage.file_lock import take_lock
from workbench.core.storage.own_file import open_own
from workbench.errors import RunFolderError
from workbench.runs.folder import RunFolder
from workbench.runs.lock import inherited_lock
from workbench.runs.ownership import check_own

_AWAY_S = 30.0
"""How long a run folder may be away, on a network disk that comes back."""

_OOM_SCORE = Path("/proc/self/oom_score_adj")


@contextlib.contextmanager
def process_setup(run: RunFolder) -> Iterator[None]:
    """Holds the run's lock and catches crashes below Python while it is entered.

    Raises:
        RunFolderError: another trainer works on this run.
        LinkFoundError: it is behind a link, or a file of it is one.
    """
    check_own(run.path)
    try:
        lock = inherited_lock(run.lock_path) or take_lock(run.lock_path)
        if lock is None:
            raise RunFolderError(
                "This run is already being trained.", where=str(run.path), fix="Stop it first."
            )
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        crash_file = os.fdopen(open_own(run.crash_path, flags), "w")
    except OSError as error:
        raise RunFolderError(
            "The run folder cannot be written.",
            where=str(run.path),
            received=error.strerror or str(error),
            fix="Free some disk space, or make the folder writable.",
        ) from error
    raise_oom_score()
    with crash_file as crash:
        faulthandler.enable(crash)
        try:
            yield
        finally:
            faulthandler.disable()
            with contextlib.suppress(OSError):  # the folder may have been removed
                if not os.fstat(crash.fileno()).st_size:
                    run.crash_path.unlink()
            # Only here, with everything written, may the run look ended.
            os.close(lock)


class FolderWatch:
    """Ends a training whose folder was removed: it could not be seen or stopped any more."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._seen = self._looked = time.monotonic()

    def check(self) -> None:
        """Looks once a second at most.

        Raises:
            RunFolderError: the folder has been away for too long.
        """
        now = time.monotonic()
        if now - self._looked < 1.0:
            return
        self._looked = now
        if not self._run.is_gone():
            self._seen = now
        elif now - self._seen > _AWAY_S:
            raise RunFolderError(
                "The run folder was removed during training.",
                where=str(self._run.path),
                fix="Train the project again.",
            )


def raise_oom_score() -> None:
    """When memory runs out, the kernel ends this worker before the desktop."""
    # Not Linux, or a locked-down container: nothing depends on it.
    with contextlib.suppress(OSError):
        _OOM_SCORE.write_text("500", encoding="ascii")
