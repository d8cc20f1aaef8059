"""What a worker sets up around itself: its place in the queue of processes that the kernel
ends when the memory runs out; for a trainer its lock and its crash file too.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
from collections.abc import Iterator
from pathlib import Path

from workbench.core.file_lock import lock_descriptor, take_lock
from workbench.errors import RunFolderError
from workbench.runs.folder import RunFolder
from workbench.runs.lock import LOCK_FD_VARIABLE

_OOM_SCORE = Path("/proc/self/oom_score_adj")


@contextlib.contextmanager
def surroundings(run: RunFolder) -> Iterator[None]:
    """Holds the run's lock and catches crashes below Python while it is entered.

    Raises:
        RunFolderError: another trainer works on this run.
    """
    try:
        lock = inherited_lock(run) or take_lock(run.lock_path)
        if lock is None:
            raise RunFolderError(
                "A trainer works on this run already.", where=str(run.path), fix="Stop it first."
            )
        crash_file = run.crash_path.open("w")
    except OSError as error:
        raise RunFolderError(
            "The run's folder cannot be written.",
            where=str(run.path),
            received=error.strerror or str(error),
            fix="Make room on the disk, or make the folder writable.",
        ) from error
    offer_to_the_kernel()
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


def offer_to_the_kernel() -> None:
    """When memory runs out, the kernel shall take this worker and not the desktop."""
    # Not Linux, or a locked-down container: nothing depends on it.
    with contextlib.suppress(OSError):
        _OOM_SCORE.write_text("500", encoding="ascii")


def inherited_lock(run: RunFolder) -> int | None:
    """The descriptor of the run's lock that whoever started us has handed over, if so."""
    text = os.environ.pop(LOCK_FD_VARIABLE, "")
    if not text.isdigit():
        return None
    descriptor = int(text)
    try:
        is_ours = os.path.samestat(os.fstat(descriptor), run.lock_path.stat())
    except OSError:
        return None
    if not is_ours:
        return None
    # Not for child processes: the lock must end with this process.
    os.set_inheritable(descriptor, False)
    lock_descriptor(descriptor)
    return descriptor
