"""A process of its own session, which goes on when the one that has started it ends, and a copy of
this process, which does not.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence

_PR_SET_PDEATHSIG = 1
_FAILED = 70


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


def start_copy(work: Callable[[], None]) -> int:
    """Starts a copy of this process (fork) that works, prints nothing and ends with it; returns its
    process id.

    Where libraries compute in threads, the copy may hang: it is made before they begin. On Linux it
    is ended as soon as the calling thread ends. Raises OSError.
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
