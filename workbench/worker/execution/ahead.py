"""A benchmark made ahead of a training, by a fork of this process.

It is forked before TensorFlow computes anything here, so nothing of a benchmark is left in the
process that trains. What it measures is kept as any answer is (`execution.plan_cache`).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from workbench.processes.fork import fork

_NICENESS = 10
_LOOK_S = 0.1


class BenchmarkAhead:
    """At most one benchmark under way. For the main thread, which the fork ends with."""

    def __init__(self) -> None:
        self._pid = 0
        self._key = ""

    def begin(self, key: str, benchmark: Callable[[], None]) -> None:
        """Begins the benchmark of a plan key in place of another one; once for the same key.

        Where it fails, it is made again by the training that needs it, which reports what is wrong.
        """
        if key == self._key:
            return
        self.end()

        def work() -> None:
            os.nice(_NICENESS)
            benchmark()

        with suppress(OSError):  # too many processes, or no memory
            self._pid = fork(work)
            self._key = key

    def wait_for(self, key: str, is_enough: Callable[[], bool]) -> None:
        """Waits while the benchmark of this key is under way, until what it has kept is enough;
        ends it then, or another one. `is_enough` is called now and then and may raise to give up.
        """
        while key == self._key and self._is_under_way() and not is_enough():
            time.sleep(_LOOK_S)
        self.end()

    def end(self) -> None:
        """Ends the benchmark that is under way."""
        if self._is_under_way():
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        self._pid, self._key = 0, ""

    def _is_under_way(self) -> bool:
        if self._pid and os.waitpid(self._pid, os.WNOHANG)[0]:
            self._pid = 0
        return self._pid != 0


benchmark_ahead = BenchmarkAhead()
"""The one of this process; in a trainer that was not kept ready it has no benchmark."""
