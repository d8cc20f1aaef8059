"""What a worker hands to a data set's `load`, for tests: records all progress."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class CancelledForTest(Exception):  # noqa: N818 - in place of the worker's own
    """Raised by `check_cancelled` once `cancel_after` calls have been made."""


class PlainContext:
    """A LoadContext with its own cache folder; `reported` holds its progress."""

    def __init__(self, folder: Path, *, cancel_after: int | None = None) -> None:
        self._folder = folder
        self._left = cancel_after
        self.reported: list[tuple[str, float | None]] = []

    @property
    def cache_folder(self) -> str:
        return str(self._folder)

    def progress(self, text: str, fraction: float | None = None) -> None:
        assert fraction is None or 0 <= fraction <= 1
        self.reported.append((text, fraction))

    def check_cancelled(self) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise CancelledForTest

    def keras(self) -> Any:
        raise AssertionError("no source needs TensorFlow to load")
