"""Why another machine could not join, as the process that started it reported."""

from __future__ import annotations

import msgspec

from workbench.errors import RemoteError
from workbench.protocol.messages import ErrorParts
from workbench.runs.folder import RunFolder

REFUSAL_NAME = "refusal.json"
"""File in the leading run's folder; the host's part removes it before each start."""

_MAX_BYTES = 64 * 1024


def join_error_of(run: RunFolder) -> RemoteError | None:
    """The first such machine's reason; None while there is none."""
    try:
        with (run.path / REFUSAL_NAME).open("rb") as file:
            told = msgspec.json.decode(file.read(_MAX_BYTES), type=ErrorParts)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return RemoteError(
        told.what,
        where=told.where,
        received=told.received,
        expected=told.expected,
        fix=told.fix,
    )
