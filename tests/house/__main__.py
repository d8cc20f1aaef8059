"""Prints the figures of the code; fails on a breach of a rule."""

from __future__ import annotations

import sys

from tests.house import sizes
from tests.house.rules import KEYS, RULES
from tests.house.sources import modules


def main() -> int:
    """One line for each figure, then the breaches."""
    sources = modules()
    print(f"{sizes.num_lines(sources):>7,} non-blank lines")
    print(f"{len(sources):>7,} modules")
    print(f"{sizes.median_lines(sources):>7,} lines of the median module")
    print(f"{sizes.share_of_imports(sources):>7.1%} of all lines are imports")
    found = {rule: rule.look(sources) for rule in (*RULES, KEYS)}
    for rule in (*RULES, KEYS):
        print(f"{len(found[rule]):>7,} {rule.title}")
    breaches = [f"{rule.title}: {line}" for rule, lines in found.items() for line in lines]
    print(*breaches, sep="\n", end="\n" if breaches else "")
    return int(bool(breaches))


if __name__ == "__main__":
    sys.exit(main())
