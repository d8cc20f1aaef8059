"""Foreign data sets of known truth: read right, noted and changeable, or refused; never wrong.

`python -m tests.proofs.foreign_data [--kind KIND ...] [--verbose]`

Writes each data set of tests/foreign into a temporary folder, loads it as the product does, and
compares classes, parts and counts with what was written. Ends with 1 where one was read wrong
without a word.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from tests.foreign import all_cases
from tests.foreign.judged import judge

OUTCOMES = ("right", "noted", "changeable", "refused", "silently wrong")


def main(words: list[str]) -> int:
    """Prints the table, and each case that is silently wrong; returns the exit code."""
    parser = argparse.ArgumentParser(prog="foreign_data", description=__doc__)
    parser.add_argument("--kind", action="append", help="only this kind; may be repeated")
    parser.add_argument("--verbose", action="store_true", help="name each case that is not right")
    options = parser.parse_args(words)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case in all_cases():
        if options.kind and case.kind not in options.kind:
            continue
        with tempfile.TemporaryDirectory() as place:
            verdict = judge(case, Path(place))
        counts[case.kind][verdict.outcome] += 1
        if verdict.outcome == "silently wrong" or (options.verbose and verdict.outcome != "right"):
            print(f"{verdict.outcome}: {case.kind}, {case.name}: {verdict.words}", flush=True)
    return _report(counts)


def _report(counts: dict[str, Counter[str]]) -> int:
    print(f"{'':12}{'sets':>8}" + "".join(f"{each:>16}" for each in OUTCOMES))
    total: Counter[str] = sum(counts.values(), Counter())
    for kind, each in {**counts, "all": total}.items():
        numbers = "".join(f"{each[outcome]:16,}" for outcome in OUTCOMES)
        print(f"{kind:12}{each.total():8,}{numbers}")
    return int(total["silently wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
