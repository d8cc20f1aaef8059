"""A child process that answers lines: one order a line in, one answer a line out.

It has a deadline for each answer, can be given up at any moment, and takes all its own
children with it. What it prints beside its answers is kept for when it dies.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Self

from workbench.errors import RunError

_POLL_S = 0.1
_PATIENCE = 4.0
"""How many seconds count as one where the child gets nothing done: on a busy computer it works
slowly, and one that hangs does not work at all.
"""

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_MOST_ANSWER = 64 << 20
_LAST_TEXT = 2_000


class DeadlineError(RunError):
    """A child has not answered in time, and was ended."""


class ChildDiedError(RunError):
    """A child has ended without an answer."""


class LineChild:
    """Lives as long as its `with` block.

    Args:
        command: Program and arguments.
        environment: All environment variables of the process.
        name: What it is, for messages, e.g. "the TPU compiler".
        folder: Folder that its log is written to.
        check: Called every tenth of a second while it works; raises when the asker gives up.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        name: str,
        folder: Path,
        check: Callable[[], None],
    ) -> None:
        self._command, self._environment = list(command), dict(environment)
        self._name, self._check = name, check
        self._who = f"{name[:1].upper()}{name[1:]}"
        self._log_path = folder / f"{name.replace(' ', '-')}.log"
        self._log: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._read = b""

    def __enter__(self) -> Self:
        self._log = self._log_path.open("wb")
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,  # a group of its own, to be ended as a whole
        )
        return self

    def __exit__(self, *exc_info: object) -> None:
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout, self._log):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def ask(self, order: bytes, *, deadline_s: float) -> bytes:
        """Sends one line and waits for the answer's, without its line end.

        Args:
            order: Without a line end.
            deadline_s: Processor time the answer may take; four times as long by the clock.

        Raises:
            DeadlineError: there was none in time.
            ChildDiedError: the child has ended instead.
        """
        process = self._running()
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # the end of its answers tells
                process.stdin.write(order + b"\n")
                process.stdin.flush()
        return self.next_line(deadline_s=deadline_s)

    def next_line(self, *, deadline_s: float) -> bytes:
        """Waits for a line that comes by itself; errors as of `ask`."""
        process = self._running()
        began, worked = time.monotonic(), self._worked_s(process)
        while b"\n" not in self._read:
            self._check()
            waited = (time.monotonic() - began) / _PATIENCE
            if max(waited, self._worked_s(process) - worked) > deadline_s:
                raise self._too_late(deadline_s)
            self._read_some(process)
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _read_some(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdout is None or not select.select([process.stdout], [], [], _POLL_S)[0]:
            return
        data = os.read(process.stdout.fileno(), 1 << 20)
        if not data or len(self._read) > _MOST_ANSWER:
            raise self._death(process)
        self._read += data

    @staticmethod
    def _worked_s(process: subprocess.Popen[bytes]) -> float:
        """Processor time of the child so far; 0 where that cannot be known."""
        try:
            text = Path(f"/proc/{process.pid}/stat").read_text("ascii", errors="replace")
            user, system = text.rpartition(")")[2].split()[11:13]
        except (OSError, ValueError):
            return 0.0
        return (int(user) + int(system)) / _TICKS

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RunError("This child has not been started.", fix="Use it in a `with` block.")
        return self._process

    def _too_late(self, deadline_s: float) -> DeadlineError:
        return DeadlineError(
            f"{self._who} did not answer within {deadline_s:.0f} s of work.",
            where=self._name,
            fix="It was ended. A smaller network or batch takes less time.",
        )

    def _death(self, process: subprocess.Popen[bytes]) -> ChildDiedError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # too much to say, or half closed
        code = process.wait()
        killed = code == -signal.SIGKILL
        return ChildDiedError(
            f"{self._who} ended without an answer.",
            where=self._name,
            received=self._last_words() or f"exit code {code}",
            fix="Perhaps the memory of this computer ran out." if killed else "",
        )

    def _last_words(self) -> str:
        with contextlib.suppress(OSError), self._log_path.open("rb") as log:
            log.seek(max(0, self._log_path.stat().st_size - _LAST_TEXT))
            return log.read().decode("utf-8", "replace").strip()
        return ""
