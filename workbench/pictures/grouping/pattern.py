"""A project's regular expression for groups, tried in a process with limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.core.specs import LoadContext
from workbench.errors import ChildDiedError, DatasetError, DeadlineError
from workbench.processes.child import Child
from workbench.processes.limited import limited_command

_CPU_S = 5
"""A million names take less than a second with a pattern that is not made to be slow."""

_MEMORY_BYTES = 2 << 30
_CHILD = Path(__file__).resolve().with_name("pattern_child.py")
_FIX = "Correct the pattern in the settings of the split."


def found_groups(pattern: str, names: Sequence[str], ctx: LoadContext) -> list[str]:
    """The group in each name: the pattern's first group in parentheses, or all that it matches; ""
    for a name without one.

    Raises:
        DatasetError: the pattern is no regular expression, or takes too long.
        Exception: the caller's own for canceling.
    """
    order = {"pattern": pattern, "names": list(names)}
    try:
        with Child(
            limited_command(_CHILD, memory_bytes=_MEMORY_BYTES, cpu_s=_CPU_S),
            name="the search for groups",
            environment={"LC_ALL": "C.UTF-8"},
            order=json.dumps(order).encode(),
            check=ctx.check_cancelled,
            counts_work=True,
        ) as child:
            # Its own limit comes first.
            answer: dict[str, Any] = json.loads(child.answer(deadline_s=2 * _CPU_S))
    except (ChildDiedError, DeadlineError) as error:
        raise DatasetError(
            "The pattern of groups takes too long.",
            received=pattern,
            expected=f"a regular expression that needs at most {_CPU_S} s for all names; one "
            "repeat inside another, such as (a+)+, can take forever",
            fix=_FIX,
        ) from error
    if "error" in answer:
        raise DatasetError(
            "The pattern of groups is no regular expression.",
            received=pattern,
            expected=f"a regular expression ({answer['error']})",
            fix=_FIX,
        )
    groups: list[str] = answer["groups"]
    return groups
