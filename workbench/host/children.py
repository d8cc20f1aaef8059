"""Programs started here: none outlives the line but the trainers, and none is waited for
without end.
"""

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from typing import IO, Callable, Dict, List, Optional, Set

from workbench.host.faults import Fault, of_system

_alive: Set[int] = set()
_MOST_LINES = 200


class Ended:
    """How a program ended: its exit code, and the last lines that it printed."""

    def __init__(self, code: int, lines: List[str]) -> None:
        self.code = code
        self.lines = lines


def run(
    argv: List[str],
    env: Dict[str, str],
    *,
    silence_s: float,
    on_line: Optional[Callable[[str], None]] = None,
    has_grown: Callable[[], bool] = lambda: False,
    is_ended_with_line: bool = True,
) -> Ended:
    """Runs a program to its end.

    Args:
        argv: Program and arguments; no shell.
        env: All its variables.
        silence_s: Ended when it has neither printed nor grown anything for so long.
        on_line: Called with each line that it prints, errors too.
        has_grown: Asked each second of silence: whether something else shows that it works.
        is_ended_with_line: It ends when the line to the other computer does.

    Raises:
        Fault: it cannot be started, or was silent for too long.
    """
    try:
        child = subprocess.Popen(
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise of_system(error, argv[0]) from error
    if is_ended_with_line:
        _alive.add(child.pid)
    lines: queue.Queue[Optional[str]] = queue.Queue()
    threading.Thread(target=_read, args=(child.stdout, lines), daemon=True).start()
    try:
        kept = _follow(lines, silence_s, on_line, has_grown)
        code = child.wait(30)
    except (Fault, subprocess.TimeoutExpired) as error:
        end_group(child.pid)
        child.wait()
        if isinstance(error, Fault):
            error.parts["where"] = " ".join(argv[:6])
            raise
        code = child.returncode
        kept = []
    finally:
        _alive.discard(child.pid)
    return Ended(code, kept)


def _read(output: IO[bytes], lines: "queue.Queue[Optional[str]]") -> None:
    for line in iter(lambda: output.readline(4096), b""):
        lines.put(line.decode("utf-8", "replace").rstrip())
    lines.put(None)


def _follow(
    lines: "queue.Queue[Optional[str]]",
    silence_s: float,
    on_line: Optional[Callable[[str], None]],
    has_grown: Callable[[], bool],
) -> List[str]:
    kept: List[str] = []
    deadline = time.monotonic() + silence_s
    while True:
        try:
            line = lines.get(timeout=1.0)
        except queue.Empty:
            if has_grown():
                deadline = time.monotonic() + silence_s
            if time.monotonic() > deadline:
                raise Fault(
                    "silence",
                    "A program on the other computer did not respond and was terminated.",
                    received="; ".join(kept[-3:])[:500],
                    expected="output within %d s" % silence_s,
                    fix="Try again: its progress is kept.",
                ) from None
            continue
        if line is None:
            return kept
        deadline = time.monotonic() + silence_s
        kept = [*kept, line][-_MOST_LINES:]
        if on_line is not None and line:
            on_line(line)


def end_group(pid: int) -> None:
    """Kills a program and all that it started."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def end_all() -> None:
    """Kills everything that was started here and should not outlive the line."""
    for pid in list(_alive):
        end_group(pid)
