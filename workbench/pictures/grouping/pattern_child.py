"""Finds the group in each of some names by a regular expression: a process of its own.

A pattern comes with a project, so perhaps from elsewhere, and one can be made that takes years
for a name of 40 letters. Nothing can interrupt a search in the same process. Standard library
only: it is run as a file, by `processes.limited`.

stdin: {"pattern": ..., "names": [...]}
stdout: a line, {"groups": [...]} with "" for a name without one, or {"error": ...}.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any


def main() -> None:
    """Answers one order."""
    order = json.load(sys.stdin)
    sys.stdout.write(json.dumps(_answer(order["pattern"], order["names"])) + "\n")


def _answer(pattern: str, names: list[str]) -> dict[str, Any]:
    try:
        rule = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return {"error": str(error)}
    return {"groups": [_found(rule, name) for name in names]}


def _found(rule: re.Pattern[str], name: str) -> str:
    match = rule.search(name)
    if match is None:
        return ""
    return (match[1] if rule.groups else match[0]) or ""


if __name__ == "__main__":
    main()
