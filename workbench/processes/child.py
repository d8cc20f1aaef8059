"""A child process that answers within a deadline, and of which nothing is left afterwards.

It answers in lines or frames, can be given up at any moment, and is ended with all that it has
started itself. What it prints to stderr is kept for a crash report.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Self, cast

from workbench.errors import ChildDiedError, DeadlineError
from workbench.host import wire
from workbench.host.children import end_group

# fork ----------------------------------------------------------------------------------------
# A fork of this process that does one thing and ends with it.

_PR_SET_PDEATHSIG = 1
_FAILED = 70


def fork(work: Callable[[], None]) -> int:
    """Starts a fork of this process that works, prints nothing and ends; returns its process id.

    Where libraries compute in threads already, it may hang. On Linux it is killed when the calling
    thread ends. Raises OSError.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    code = _FAILED
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        if os.getppid() == parent:
            work()
            code = 0
    finally:
        os._exit(code)


# session -------------------------------------------------------------------------------------
# A process of its own session, which goes on when the one that has started it ends.


def start_session(
    words: Sequence[str], environment: Mapping[str, str], descriptors: Mapping[int, int]
) -> int:
    """Starts `python -m WORDS` with these variables alone; returns its process id.

    Each open file of the mapping's values is the process' descriptor of the key's number. Raises
    OSError.
    """
    # -P: files beside the user's project must not shadow Python's own modules.
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-m", *words],
        environment,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, ours, theirs) for theirs, ours in sorted(descriptors.items())
        ],
        setsid=True,
    )


# child ---------------------------------------------------------------------------------------

_POLL_S = 0.1
_LINGER_S = 10.0
"""How long a child may take to end once it has closed its output."""

_PATIENCE = 4.0
"""How many seconds by the clock count as one of work: on a busy computer a child works slowly,
and one that hangs does not work at all.
"""

_TICKS = os.sysconf("SC_CLK_TCK")
_MOST_LINE = 256 << 20  # a lowered network is one
_MOST_PIECE = 1 << 20
_LAST_TEXT = 2_000
_MOST_WORDS = 600


class Child:
    """A process of its own session, from the constructor to the end of its `with` block.

    Args:
        command: Program and arguments.
        name: What it is, for messages, e.g. "the TPU compiler".
        environment: All environment variables of the process; those of this one where None.
        order: All that is sent to its stdin, which is closed afterwards. None: stdin stays open
            for `send`, and its end is how the child notices that this process is gone.
        check: Called every tenth of a second while output is waited for; raises to give up.
        has_merged_errors: What it prints to stderr comes among its output.
        counts_work: Deadlines are seconds of processor time, and four times as many by the
            clock.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        environment: Mapping[str, str] | None = None,
        order: bytes | None = None,
        check: Callable[[], None] = lambda: None,
        has_merged_errors: bool = False,
        counts_work: bool = False,
    ) -> None:
        self._name, self._check, self._counts_work = name, check, counts_work
        with contextlib.ExitStack() as stack:
            self._errors = stack.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if has_merged_errors else self._errors,
                bufsize=0,
                start_new_session=True,  # a group of its own, to be ended as a whole
            )
            stack.pop_all()
        self._input = cast("io.FileIO", self._process.stdin)
        self._output = cast("io.FileIO", self._process.stdout)
        os.set_blocking(self._input.fileno(), False)
        self._stream = io.BufferedReader(wire.Noted(self._read_some, lambda: None))
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._unsent = memoryview(b"")
        self._is_order = order is not None
        self._allow(inf)
        if order is not None:
            self.send(order)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def send(self, data: bytes) -> None:
        """Sends bytes to its stdin, while its output is waited for: this never blocks."""
        if not self._unsent:
            self._selector.register(self._input, selectors.EVENT_WRITE)
        self._unsent = memoryview(bytes(self._unsent) + data)

    def request(self, order: bytes, *, deadline_s: float) -> bytes:
        """Sends a line (without its end), and returns the next one of its output.

        Raises:
            DeadlineError: it took longer than the deadline.
            ChildDiedError: the child has ended instead.
        """
        self.send(order + b"\n")
        return self.answer(deadline_s=deadline_s)

    def answer(self, *, deadline_s: float) -> bytes:
        """The next line of its output, without the line end; errors as of `request`."""
        line = next(self.lines(deadline_s=deadline_s), None)
        if line is None:
            raise self.death()
        return line

    def lines(self, *, deadline_s: float = inf) -> Iterator[bytes]:
        """The lines of its output as they come, without line ends, until it closes it;
        DeadlineError where all of them take longer.
        """
        self._allow(deadline_s)
        while (line := self._stream.readline(_MOST_LINE)).endswith(b"\n"):
            yield line[:-1]

    def frame(self, *, limit: int, deadline_s: float) -> tuple[wire.Fields, bytes]:
        """The next frame (host/wire.py), with at most `limit` bytes; errors as of `request`."""
        self._allow(deadline_s)
        try:
            if (announced := wire.read_head(self._stream, _MOST_LINE)) is not None:
                fields, size = announced
                return fields, wire.read_exactly(self._stream, size, limit)
        except wire.FrameFault as fault:
            raise self.death(str(fault)) from fault
        raise self.death()

    def rest(self, *, limit: int, deadline_s: float) -> bytes:
        """What is left of its output, up to so many bytes; DeadlineError as of `request`."""
        self._allow(deadline_s)
        return self._stream.read(limit)

    def exit_code(self) -> int:
        """How it has ended, once its output has; it is ended where it lingers."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(_LINGER_S)
        end_group(self._process.pid)
        return self._process.wait()

    def last_words(self) -> str:
        """The end of what it has printed to stderr."""
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _LAST_TEXT))
        return self._errors.read().decode("utf-8", "replace").strip()

    def death(self, received: str = "") -> ChildDiedError:
        """How it has ended without an answer, with the last that it has printed."""
        code = self.exit_code()
        return ChildDiedError(
            f"{self._name[:1].upper()}{self._name[1:]} {end_words(code)}.",
            where=self._name,
            received=self.last_words() or received,
            is_killed=code == -signal.SIGKILL,
        )

    def finish(self, *, step_s: float) -> None:
        """Lets it end: closes its stdin, terminates and kills it, each after `step_s`."""
        self._input.close()
        for next_rung in (self._process.terminate, self._process.kill):
            try:
                self._process.wait(step_s)
            except subprocess.TimeoutExpired:
                next_rung()

    def end(self) -> None:
        """Kills it with all that it has started."""
        end_group(self._process.pid)
        self._process.wait()
        self._selector.close()
        for file in (self._input, self._output, self._errors):
            file.close()

    def _allow(self, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self._began, self._worked = time.monotonic(), self._worked_s()

    def _read_some(self, size: int) -> bytes:
        """What has come of its output; waits for the first bytes. Empty at its end."""
        while True:
            self._check()
            self._refuse_delay()
            ready = {key.fileobj for key, _ in self._selector.select(_POLL_S)}
            if self._input in ready:
                self._send_some()
            if self._output in ready:
                return os.read(self._output.fileno(), min(size, _MOST_PIECE))

    def _refuse_delay(self) -> None:
        waited = time.monotonic() - self._began
        if self._counts_work:
            waited = max(waited / _PATIENCE, self._worked_s() - self._worked)
        if waited > self._deadline_s:
            raise DeadlineError(
                f"{self._name[:1].upper()}{self._name[1:]} timed out after {self._deadline_s:g} s.",
                where=self._name,
                fix="It was terminated.",
            )

    def _send_some(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._input.fileno(), self._unsent) :]
        except BrokenPipeError:  # the end of its output says that it has gone
            self._unsent = memoryview(b"")
        if not self._unsent:
            self._selector.unregister(self._input)
            if self._is_order:
                self._input.close()

    def _worked_s(self) -> float:
        """Its processor time so far; 0 where that cannot be known."""
        try:
            text = Path(f"/proc/{self._process.pid}/stat").read_text("ascii", errors="replace")
            user, system = text.rpartition(")")[2].split()[11:13]
        except (OSError, ValueError):
            return 0.0
        return (int(user) + int(system)) / _TICKS


def end_words(exit_code: int) -> str:
    """How a process has ended, as the rest of a sentence; a negative code is minus a signal."""
    if exit_code == -signal.SIGKILL:
        return "was killed (signal 9), probably out of memory"
    if exit_code < 0:
        names = {int(kind): kind.name for kind in signal.Signals}
        return f"crashed ({names.get(-exit_code, f'signal {-exit_code}')})"
    return f"ended (exit code {exit_code})"


def short_death(error: ChildDiedError) -> str:
    """How a process has ended, and the last line that it has printed: there Python names an error,
    and most libraries do.
    """
    lines = [line.strip() for line in error.received.splitlines() if line.strip()]
    return " ".join([error.what, *lines[-1:]])[:_MOST_WORDS]
