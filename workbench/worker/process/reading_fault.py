"""What went wrong while the input pipeline read a picture.

TensorFlow turns an exception of a reading thread into an error of its own that holds only
its text; the exception itself waits here for whoever tells people.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")

_LAST: list[Exception] = []


def reading_fault() -> Exception | None:
    """The last exception that a reading thread raised; None when all reading went well."""
    return _LAST[-1] if _LAST else None


def noting_faults(read: Callable[[], _Result]) -> _Result:
    """Calls `read` and remembers what it raises."""
    try:
        return read()
    except Exception as error:
        _LAST[:] = [error]
        raise
