"""Cuts of a split by content, remembered so that images added later move none of the others.

In each class the images are in the order of a hash of their content, a number from 0 to 2**64 - 1.
Those below the first mark are for testing, those below the second for validation. Without marks
they are chosen so that each part has its share of the images at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_EMPTY: Mapping[str, tuple[str, str]] = MappingProxyType({})
_MARK = re.compile("[0-9a-f]{16}")
_MAX_CLASSES = 100_000
_MAX_TEXT = 10_000
_EXPECTED = "two hexadecimal numbers for each class"

Report = Callable[[str, Any, str], None]


@dataclass(frozen=True)
class SplitMarks:
    """The marks of each class. True when there are any.

    Attributes:
        made_for: What they depend on beside the images (`SplitRule.key`): with other values of the
            recipe they are chosen again.
        bounds: Name of a class -> its two marks, each of 16 hexadecimal digits. Images that have
            copies or a group in several classes have marks of their own, under all the names,
            joined by line breaks.
    """

    made_for: str = ""
    bounds: Mapping[str, tuple[str, str]] = field(default_factory=lambda: _EMPTY)

    def __bool__(self) -> bool:
        return bool(self.bounds)


def marks_to_plain(marks: SplitMarks) -> dict[str, Any]:
    """The marks as JSON values; {} for none."""
    if not marks:
        return {}
    bounds = {name: list(ends) for name, ends in sorted(marks.bounds.items())}
    return {"made_for": marks.made_for, "bounds": bounds}


def read_marks(plain: Any, report: Report, where: str = "split") -> SplitMarks:
    """The marks of JSON values; where something is wrong it is reported, and there are none."""
    bounds = plain.get("bounds", {}) if isinstance(plain, dict) else None
    made_for = plain.get("made_for", "") if isinstance(plain, dict) else None
    is_valid = (
        isinstance(bounds, dict)
        and isinstance(made_for, str)
        and len(made_for) <= _MAX_TEXT
        and len(bounds) <= _MAX_CLASSES
        and all(isinstance(name, str) and _are_ends(ends) for name, ends in bounds.items())
    )
    if is_valid:
        return SplitMarks(str(made_for), {name: (a, b) for name, (a, b) in (bounds or {}).items()})
    report(where, plain, _EXPECTED)
    return SplitMarks()


def _are_ends(ends: object) -> bool:
    return (
        isinstance(ends, list | tuple)
        and len(ends) == 2
        and all(isinstance(end, str) and _MARK.fullmatch(end) for end in ends)
    )
