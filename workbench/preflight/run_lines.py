"""A program that is waited for, its lines told as they come; ended when its time is over."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_POLL_S = 0.2
_LAST_LINES = 6


@dataclass(frozen=True)
class Ended:
    """How a program ended; `last_words` are its last lines. None: its time was over."""

    exit_code: int | None
    last_words: str


def run_lines(
    command: Sequence[str],
    *,
    deadline_s: float,
    tell: Callable[[str], None],
    check: Callable[[], None],
) -> Ended:
    """Runs a program in a process group of its own, of which nothing is left afterwards.

    Args:
        command: Program and arguments.
        deadline_s: Longest it may take.
        tell: Told each line of what it prints.
        check: Called often; when it raises, the program is ended and the error goes on.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    lines: deque[str] = deque(maxlen=_LAST_LINES)
    try:
        is_over = _follow(process, lines, tell, check, time.monotonic() + deadline_s)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        exit_code = process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if is_over:
        return Ended(exit_code, "\n".join(lines))
    return Ended(None, f"It took longer than {deadline_s:.0f} s.")


def _follow(
    process: subprocess.Popen[bytes],
    lines: deque[str],
    tell: Callable[[str], None],
    check: Callable[[], None],
    end: float,
) -> bool:
    """Tells lines until the program has ended; False when its time is over before."""
    rest = b""
    while process.stdout is not None:
        check()
        if time.monotonic() > end:
            return False
        if not select.select([process.stdout], [], [], _POLL_S)[0]:
            continue
        data = os.read(process.stdout.fileno(), 1 << 16)
        *whole, rest = (rest + data).split(b"\n")
        for line in whole:
            text = line.decode("utf-8", "replace").strip()
            if text:
                lines.append(text)
                tell(text)
        if not data:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)  # its own exit code, before its group is ended
            return True
    return True
