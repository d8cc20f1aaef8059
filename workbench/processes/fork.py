"""A fork of this process that does one thing and ends with it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

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
