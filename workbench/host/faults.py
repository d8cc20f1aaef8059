"""What can go wrong on this computer, in the five parts that errors have everywhere."""

import contextlib
from typing import Any, Dict, Iterator

_LONGEST = 2000

KEYS = (
    "alive", "archive", "busy", "disk_full", "foreign_home", "internal", "member", "no_python",
    "no_run", "no_venv", "not_started", "not_stored", "offset", "other_run", "pip", "request",
    "silence", "sum", "system",
)  # fmt: skip
"""What a key of a fault may be: another one that comes over the line is none."""


class Fault(Exception):  # noqa: N818 - it crosses the line as an answer, not as an exception
    """An error that is shown to the user.

    Args:
        key: Short identifier for programs, e.g. "no_venv".
        what: One sentence that names the problem.
        parts: Any of where, received, expected, fix.
    """

    def __init__(self, key: str, what: str, **parts: str) -> None:
        super().__init__(what)
        self.key = key
        self.what = what
        self.parts = parts

    def to_dict(self) -> Dict[str, Any]:
        """Fields of an answer that carries the fault."""
        words = {"key": self.key, "what": self.what}
        words.update(self.parts)
        return {name: text[:_LONGEST] for name, text in words.items()}


@contextlib.contextmanager
def system_faults(where: str) -> Iterator[None]:
    """Raises an error of the operating system as a Fault."""
    try:
        yield
    except OSError as error:
        raise Fault(
            "system",
            "The other computer reported an error.",
            where=where,
            received=error.strerror or str(error),
            fix="Free some space there, or make the folder writable.",
        ) from error
