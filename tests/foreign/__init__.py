"""Foreign data sets with known truth, and how what the product makes of them is judged."""

from __future__ import annotations

from collections.abc import Iterator

from tests.foreign import archives, arrays, folders, odd_tables, records, tables
from tests.foreign.judged import Case


def all_cases() -> Iterator[Case]:
    """Every case of every kind."""
    for kind in (folders, archives, tables, odd_tables, arrays, records):
        yield from kind.cases()
