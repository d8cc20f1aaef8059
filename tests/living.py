"""Whether a process is still there: by its number, and not as a zombie."""

from __future__ import annotations

import time
from pathlib import Path


def is_alive(pid: int | str) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def wait_until_gone(pid: int | str) -> None:
    """The test's own time limit ends it."""
    while is_alive(pid):
        time.sleep(0.01)
