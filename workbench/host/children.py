"""Programs started here: all but the trainers end with the connection, and none is waited for
without end.
"""

import collections
import contextlib
import os
import select
import signal
import subprocess
import time
from typing import IO, Callable, Deque, Dict, Iterable, Iterator, List, Optional, Set, cast

from workbench.host.faults import Fault, system_faults

_running: Set[int] = set()
_MOST_LINES = 200
_LONGEST = 64 * 1024


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
        has_grown: Called each second of silence: whether something else shows progress.
        is_ended_with_line: It ends when the connection to the other computer does.

    Raises:
        Fault: it cannot be started, or was silent for too long.
    """
    with system_faults(argv[0]):
        child = subprocess.Popen(
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    if is_ended_with_line:
        _running.add(child.pid)
    kept: Deque[str] = collections.deque(maxlen=_MOST_LINES)
    try:
        with cast("IO[bytes]", child.stdout) as output:
            for line in _lines(output.fileno(), silence_s, has_grown):
                if line is None:
                    raise _silence(argv, kept, silence_s)
                kept.append(line)
                if on_line is not None and line:
                    on_line(line)
        code = child.wait(30)
    except (Fault, subprocess.TimeoutExpired) as error:
        end_group(child.pid)
        code = child.wait()
        if isinstance(error, Fault):
            raise
    finally:
        _running.discard(child.pid)
    return Ended(code, list(kept))


def _lines(output: int, silence_s: float, has_grown: Callable[[], bool]) -> Iterator[Optional[str]]:
    """What a program prints, line by line; None where it was silent for too long."""
    rest = b""
    deadline = time.monotonic() + silence_s
    while True:
        if select.select([output], [], [], 1.0)[0]:
            data = os.read(output, 4096)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines if data or not rest else [rest]:
                yield line.decode("utf-8", "replace").rstrip()
            if not data:
                return
            rest = rest[-_LONGEST:]
        elif not has_grown():
            if time.monotonic() > deadline:
                yield None
            continue
        deadline = time.monotonic() + silence_s


def _silence(argv: List[str], kept: Iterable[str], silence_s: float) -> Fault:
    return Fault(
        "silence",
        "A program on the other computer did not respond and was terminated.",
        where=" ".join(argv[:6]),
        received="; ".join(list(kept)[-3:])[:500],
        expected="output within %d s" % silence_s,
        fix="Try again: its progress is kept.",
    )


def end_group(pid: int, number: int = signal.SIGKILL) -> None:
    """Ends a program and all that it started, by a signal."""
    with contextlib.suppress(OSError):
        os.killpg(pid, number)


def end_all() -> None:
    """Kills everything that was started here and should end with the connection."""
    for pid in list(_running):
        end_group(pid)
