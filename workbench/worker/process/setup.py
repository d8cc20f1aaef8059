"""Set-up of a worker process: its place in the queue of processes that the kernel
ends when the memory runs out; for a trainer its lock and its crash file too.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Self

import workbench
from workbench.core.storage.own_file import is_locked, open_own, take_lock
from workbench.errors import RunFolderError
from workbench.runs.folder import RunFolder, inherited_lock
from workbench.runs.home import check_own

# session folder ------------------------------------------------------------------------------
# The folder of one worker process for temporary files.

_PREFIX = "workbench-service-"
_LOCK_NAME = "lock"


class SessionFolder:
    """A folder of this process alone (mode 0700) for PNGs, and for all that it, its libraries and
    its children write as temporary files (TensorFlow's autograph leaves its there); removed at the
    end.

    A worker that is killed leaves its folder behind; the next worker removes it. The lock
    file in each folder shows whether its worker is still running.
    """

    def __init__(self) -> None:
        sweep_session_folders()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = take_lock(self.path / _LOCK_NAME)

    def __enter__(self) -> Self:
        self._before = tempfile.gettempdir(), os.environ.get("TMPDIR")
        self._lead_to(str(self.path), str(self.path))
        return self

    @staticmethod
    def _lead_to(folder: str, variable: str | None) -> None:
        tempfile.tempdir = folder
        if variable is None:
            os.environ.pop("TMPDIR", None)
        else:
            os.environ["TMPDIR"] = variable

    def __exit__(self, *exc_info: object) -> None:
        self._lead_to(*self._before)
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)


def sweep_session_folders() -> None:
    """Removes the folders of this user's service workers and trainers that have ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            is_ours = not folder.is_symlink() and folder.lstat().st_uid == os.getuid()
            is_over = is_ours and not is_locked(folder / _LOCK_NAME)
        except OSError:  # another user's, or just being made or removed: not ours to touch
            continue
        if is_over:
            shutil.rmtree(folder, ignore_errors=True)


# versions ------------------------------------------------------------------------------------
# Versions that take part in a training, without importing any of them.


def versions() -> dict[str, str]:
    """Version by name; what is not installed is left out."""
    found = {"workbench": workbench.__version__, "python": platform.python_version()}
    for name in ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "libtpu", "keras", "numpy"):
        try:
            found[name.removesuffix("-cpu")] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def compiles_for_processors() -> bool:
    """Whether the TensorFlow that is installed has an XLA for the processor.

    The one for TPUs has none: code that requests it fails with "could not find registered
    transfer manager for platform Host".
    """
    return "tensorflow-tpu" not in versions()


# setup ---------------------------------------------------------------------------------------

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
