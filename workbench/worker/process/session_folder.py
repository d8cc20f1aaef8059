"""The folder of one worker process for temporary files."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Self

from workbench.core.storage.file_lock import is_locked, take_lock

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
