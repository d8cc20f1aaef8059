"""The problems of a check, as commands print them for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.core.checks.problems import Problem


def problems_as_json(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Problems for programs: what is not finished is an error, with a mark."""
    return [
        {
            "node": problem.node,
            "severity": problem.level,
            "unfinished": problem.severity == "unfinished",
            "title": problem.title,
            "message": problem.message,
            "fixes": [{"key": fix.key, "title": fix.title} for fix in problem.fixes],
        }
        for problem in problems
    ]
