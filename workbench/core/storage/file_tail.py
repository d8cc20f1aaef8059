"""The end of a file that others append to."""

from __future__ import annotations

import os
import re
from pathlib import Path

from workbench.core.storage.foreign_file import open_foreign


def tail_bytes(path: Path, max_bytes: int) -> bytes:
    """The last bytes of a file; none where it cannot be read."""
    try:
        with open_foreign(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - max_bytes))
            return file.read(max_bytes)
    except OSError:
        return b""


def tail_lines(path: Path, *, max_lines: int, max_bytes: int = 64 * 1024) -> tuple[str, ...]:
    """The last non-empty lines of a text file; nothing where it does not exist."""
    text = tail_bytes(path, max_bytes).decode("utf-8", "replace")
    lines = (re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", line) for line in text.splitlines())
    return tuple([line[:1000] for line in lines if line.strip()][-max_lines:])
