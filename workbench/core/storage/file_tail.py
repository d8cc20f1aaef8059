"""The end of a file that others append to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from workbench.core.storage.foreign_file import open_foreign

_STAMP = r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d+: )?"
_CUDA = r"cu[A-Z]|CUDA|cuda|factory|computation_placer"
_NOISE = re.compile(
    rf"{_STAMP}(?:[IW](?:\d{{4}}| ).*|E(?:\d{{4}}| ).*(?:{_CUDA}).*)"
    r"|WARNING: All log messages before absl.*|To enable the following instructions:.*"
)
"""What TensorFlow's libraries print at each start, as of plug-ins registered twice and of a CUDA
that is not there: no reason why a process ended."""


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


def without_noise(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines without what TensorFlow's libraries print at each start."""
    return tuple(line for line in lines if not _NOISE.fullmatch(line))
