"""A process of its own session, which goes on when the one that has started it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence


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
