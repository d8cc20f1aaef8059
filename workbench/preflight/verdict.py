"""The report in words: what was found, for which TPU, and what that is worth."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.problems import Problem
from workbench.preflight.rules import batch_words
from workbench.protocol.preflight import (
    HONESTY,
    Level,
    Memory,
    ReportFix,
    ReportProblem,
)
from workbench.targets._tpu_chips import GIB, ChipChoice

TIGHT = 0.85
"""Part of a core's memory above which little is left for prefetched batches and validation."""


def memory_words(memory: Memory) -> str:
    """ "0.22 of 15.75 GiB": what a step needs of one core's memory."""
    return f"{memory.needs_bytes / GIB:.2f} of {memory.has_bytes / GIB:.2f} GiB"


def is_tight(memory: Memory) -> bool:
    """It fits, and leaves little."""
    return TIGHT * memory.has_bytes < memory.needs_bytes <= memory.has_bytes


def verdict_words(
    level: Level,
    chip: ChipChoice,
    *,
    per_core: int,
    memory: Memory | None,
    errors: Sequence[Problem],
    suggested_per_core: int,
) -> str:
    """One or two sentences, and what they are worth.

    Args:
        level: The deepest that ran.
        chip: The TPU.
        per_core: The batch that was asked about.
        memory: By the compiler, if it was asked.
        errors: What speaks against it.
        suggested_per_core: A batch to take instead, or 0.
    """
    honesty = HONESTY[level][:1].upper() + HONESTY[level][1:]
    return f"{_finding(level, chip, per_core, memory, errors, suggested_per_core)} {honesty}."


def _finding(
    level: Level,
    chip: ChipChoice,
    per_core: int,
    memory: Memory | None,
    errors: Sequence[Problem],
    suggested: int,
) -> str:
    batch = f"a batch of {batch_words(per_core, chip)}"
    if memory is not None and memory.needs_bytes > memory.has_bytes:
        words = f"Does not fit: with {batch} a core of {chip.words} would need "
        words += f"{memory.needs_bytes / GIB:.2f} GiB and has {memory.has_bytes / GIB:.2f} GiB."
        if suggested:
            return f"{words} A batch of {batch_words(suggested, chip)} fits."
        return f"{words} No smaller batch was found to fit."
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return f"Will not train on {chip.words}: {errors[0].title.lower()}{more}."
    if memory is not None:
        words = f"Fits on {chip.words}: {memory_words(memory)} of each core with {batch}."
        if is_tight(memory):
            words += " That is tight: prefetched batches and validation need some too."
        if suggested and suggested != per_core:
            words += f" A batch of {batch_words(suggested, chip)} looks better."
        return words
    if level == "rules":
        return f"No rule speaks against training on {chip.words} with {batch}."
    return (
        f"Every operation of a training step with {batch} has its counterpart on "
        f"{chip.words}; whether it fits into the memory was not looked at."
    )


def report_problem(problem: Problem) -> ReportProblem:
    """A finding as the report carries it."""
    return ReportProblem(
        node=problem.node,
        severity=problem.severity,
        title=problem.title,
        message=problem.message,
        fixes=[
            ReportFix(key=fix.key, title=fix.title, recipe=dict(fix.recipe))
            for fix in problem.fixes
        ],
    )
