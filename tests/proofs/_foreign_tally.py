"""What came of many tries in a few processes, told while they go on."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

MOST_S, MOST_MIB = 5.0, 256
"""What a try may need beyond the same with files as they are."""

PROCESSES = 2
_TOLD_S = 8.0


@dataclass
class Tally:
    """What came of the tries.

    Attributes:
        outcomes: By outcome.
        broken: What must not be, a text each.
        slowest_s, most_mib: Of one try, beyond the same with files as they are.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    slowest_s: float = 0.0
    most_mib: int = 0

    def count(self, outcome: str, seconds: float, mib: int) -> None:
        """One try."""
        self.outcomes[outcome] += 1
        self.slowest_s, self.most_mib = max(self.slowest_s, seconds), max(self.most_mib, mib)

    def add(self, other: Tally) -> None:
        """Those of another process."""
        self.outcomes += other.outcomes
        self.broken += other.broken
        self.slowest_s = max(self.slowest_s, other.slowest_s)
        self.most_mib = max(self.most_mib, other.most_mib)

    def report(self, words: str) -> None:
        """Prints the row."""
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in self.outcomes.items())
        print(
            f"{words}: {counts}, {len(self.broken)} broken; at most {self.slowest_s:.1f} s and "
            f"{self.most_mib} MiB more", flush=True,
        )  # fmt: skip


def tell(words: str) -> None:
    """Progress, beside the rows."""
    print(words, file=sys.stderr, flush=True)


def in_processes(
    work: Callable[[Any], Tally],
    parts: Sequence[Any],
    words: str,
    before: Callable[[], None] | None = None,
) -> Tally:
    """Does all parts in forks of this process; tells how far it is every few seconds."""
    tally, started, done = Tally(), time.monotonic(), 0
    with ProcessPoolExecutor(PROCESSES, get_context("fork"), before) as pool:
        waiting = {pool.submit(work, part) for part in parts}
        while waiting:
            finished, waiting = wait(waiting, _TOLD_S, FIRST_COMPLETED)
            for each in finished:
                tally.add(found := each.result())
                for text in found.broken:
                    tell(text)
            if (finished and not waiting) or time.monotonic() - started > _TOLD_S * (done + 1):
                done = int((time.monotonic() - started) / _TOLD_S)
                tell(
                    f"{len(parts) - len(waiting):,} of {len(parts):,} parts after "
                    f"{time.monotonic() - started:,.0f} s, {len(tally.broken)} broken"
                )
    tally.report(f"{words}, {time.monotonic() - started:,.0f} s")
    return tally
